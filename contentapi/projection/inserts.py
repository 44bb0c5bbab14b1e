"""Prepared INSERT statements that can also select the JSON of the inserted row."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from django.db import router, transaction
from django.db.models import Model
from django.db.models.base import ModelState
from django.db.models.sql.datastructures import BaseTable
from psycopg.pq.abc import PGresult

from contentapi.projection.connections import has_parent_cursor, reject_foreign_cursors
from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import Compilation, Projection
from contentapi.projection.selections import ExecutionInputs
from contentapi.projection.statements import SelectionRequest, Statement, build_numbered_statement, get_statement

M = TypeVar("M", bound=Model)
INSERTED = "inserted"  # the name of the CTE


@dataclass(slots=True)
class ReturningSelection:
    """The selection of a row that a mutation writes, and, after the write, the row's JSON object.

    A service may pass it to `PreparedInsert.create`, which inserts and selects in one statement. Otherwise the row is
    read by a second statement.
    """

    request: SelectionRequest
    row: Model | None = None
    text: bytes = b""

    def get_json(self, row: Model) -> bytes | None:
        """Return the JSON object of a row, or None if its write did not select it."""
        return self.text if row is self.row else None


registered: ContextVar[ReturningSelection | None] = ContextVar("returning_selection", default=None)


@contextmanager
def returning(request: SelectionRequest) -> Iterator[ReturningSelection]:
    """Let `PreparedInsert.create` inside of this block select the row that it inserts.

    So a transport states its selection without passing it through the service that creates the row.
    """
    selection = ReturningSelection(request)
    token = registered.set(selection)
    try:
        yield selection
    finally:
        registered.reset(token)


class PreparedInsert(Generic[M]):
    """`objects.create` as a prepared statement, for a model without parent models, signals and a `save` of its own.

    Values must have the Python types of their fields. `requiring` names a foreign key: the row is inserted only if the
    row that the key refers to exists.
    """

    def __init__(self, model: type[M], *, requiring: str | None = None) -> None:
        self.model = model
        self.table = model._meta.db_table
        self.key = model._meta.pk
        self.fields: list[Any] = [field for field in model._meta.local_concrete_fields if not field.primary_key]
        self.defaults = {field.attname: field.get_default for field in self.fields}
        self.required: Any = model._meta.get_field(requiring) if requiring else None
        self.cache_key = ("insert", model, requiring)

    def create(self, **values: Any) -> M:
        """Insert a row. Fields without a value get their defaults. Inside of `returning`, select the row too.

        Raises `DoesNotExist` of the required model, `SelectedFieldError`, and Django's database errors. In all these
        cases nothing is inserted.
        """
        row = {name: values[name] if name in values else default() for name, default in self.defaults.items()}
        if not values.keys() <= row.keys():
            unknown = ", ".join(sorted(values.keys() - row.keys()))
            raise TypeError(f"{self.model.__name__} has no columns {unknown}.")
        using, returning = self.using, registered.get()
        if returning is None or not self.can_select(returning.request):
            return self.build_instance(self.insert_statement.execute(using, None, self.bind(row)), row, using)
        request = returning.request
        statement = get_statement(self.cache_key, request, lambda: self.compile_statement(request))
        arguments = [read(request.variables) for read in statement.arguments]  # raises before anything is written
        inputs = ExecutionInputs(request.actor, None, None, 0, None, arguments)
        if not statement.sql:  # the caller selects in a second statement
            return self.build_instance(self.insert_statement.execute(using, None, self.bind(row)), row, using)
        # A cursor of another row is found only in the result: the transaction undoes the insertion.
        with transaction.atomic(using) if has_parent_cursor(arguments) else nullcontext():
            result = statement.execute(using, inputs, self.bind(row))
            instance, text = self.build_instance(result, row, using), result.get_value(0, 1) or b""
            reject_foreign_cursors(arguments, [text])
        returning.row, returning.text = instance, text
        return instance

    def can_select(self, request: SelectionRequest) -> bool:
        if request.version is not None or request.last_is_optional:
            return False
        return isinstance(request.projection, Projection) and request.projection.model is self.model

    def build_instance(self, result: PGresult, row: dict[str, Any], using: str) -> M:
        """Return the inserted row as a saved instance, as `from_db` does, without the descriptors of its fields.

        Raises `DoesNotExist` of the required model.
        """
        if result.ntuples == 0:
            raise self.required.related_model.DoesNotExist
        instance, state = self.model.__new__(self.model), ModelState()
        state.adding, state.db = False, using
        instance.__dict__ = {"_state": state, self.key.attname: int(result.get_value(0, 0) or 0), **row}
        return instance

    @property
    def using(self) -> str:
        return router.db_for_write(self.model)

    @cached_property
    def insert_statement(self) -> Statement:
        return build_numbered_statement(*self.build_insert_sql(f'"{self.key.column}"'))

    def compile_statement(self, request: SelectionRequest) -> Statement:
        """Compile the statement that inserts a row and selects it:

            WITH "inserted" AS (INSERT INTO "blog_post" ("title", …) VALUES ($1, …) RETURNING *)
            SELECT (SELECT "id" FROM "inserted"), row_to_json(r.*)
            FROM (SELECT "blog_post"."title" AS "_0" FROM "inserted" "blog_post") AS r("title")

        Returns a statement without SQL if the selection reads other rows of the same table: all parts of a statement
        see the tables as they were before it, without the inserted row.
        """
        compilation = Compilation(request.actor, request.variables)
        projection = cast("Projection", request.projection)
        query, keys = projection.select(self.model._base_manager.order_by(), request.select(), compilation)
        query.query.alias_map[self.table] = BaseTable(INSERTED, self.table)  # the CTE gets the alias of the table
        selected, parameters = query.query.get_compiler(self.using).as_sql()
        arguments = tuple(compilation.arguments)
        if f'FROM "{self.table}"' in selected or f'JOIN "{self.table}"' in selected:
            return Statement("", b"", tuple(parameters), arguments)
        object_sql, columns = build_json_object_sql(keys)
        insertion, values = self.build_insert_sql("*")
        sql = (
            f'WITH "{INSERTED}" AS ({insertion}) SELECT (SELECT "{self.key.column}" FROM "{INSERTED}"), {object_sql}'  # noqa: S608
            f" FROM ({selected}) AS r({columns})"
        )
        return build_numbered_statement(sql, (*values, *parameters), arguments)

    def bind(self, row: dict[str, Any]) -> list[Any]:
        """Return the values for the placeholders of `build_insert_sql`."""
        return [*row.values(), row[self.required.attname]] if self.required else [*row.values()]

    def build_insert_sql(self, returned: str) -> tuple[str, tuple[None, ...]]:
        """Return SQL and a None for each placeholder, which `bind` replaces:

        INSERT INTO "blog_post" ("title", "author_id") SELECT %s, %s
        WHERE EXISTS (SELECT 1 FROM "blog_author" WHERE "id" = %s) RETURNING "id"
        """
        columns = ", ".join(f'"{field.column}"' for field in self.fields)
        values = ", ".join(["%s"] * len(self.fields))
        start = f'INSERT INTO "{self.table}" ({columns})'
        if self.required is None:
            return f"{start} VALUES ({values}) RETURNING {returned}", (None,) * len(self.fields)
        target = self.required.target_field
        exists = f'EXISTS (SELECT 1 FROM "{target.model._meta.db_table}" WHERE "{target.column}" = %s)'  # noqa: S608
        return f"{start} SELECT {values} WHERE {exists} RETURNING {returned}", (None,) * (len(self.fields) + 1)
