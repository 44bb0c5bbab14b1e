"""Prepared INSERT statements that can also select the JSON of the inserted row."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import router, transaction
from django.db.models import Model
from django.db.models.base import ModelState
from django.db.models.sql.datastructures import BaseTable
from psycopg.pq.abc import PGresult

from contentapi.core.identity import ANONYMOUS
from contentapi.projection.connections import has_unverified_cursor, reject_foreign_cursors
from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import CompilationContext, Projection
from contentapi.projection.selections import ExecutionInputs, Parameter
from contentapi.projection.statements import SelectionRequest, Statement, build_numbered_statement, get_statement

M = TypeVar("M", bound=Model)
INSERTED = "inserted"  # the name of the CTE


@dataclass(slots=True)
class InsertedRowSelection:
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


registered: ContextVar[InsertedRowSelection | None] = ContextVar("returning_selection", default=None)


@contextmanager
def register_inserted_row_selection(request: SelectionRequest) -> Iterator[InsertedRowSelection]:
    """Let `PreparedInsert.create` inside of this block select the row that it inserts.

    So a transport states its selection without passing it through the service that creates the row.
    """
    selection = InsertedRowSelection(request)
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
        columns = model._meta.local_concrete_fields
        self.fields: list[Any] = [field for field in columns if not (field.primary_key or field.generated)]
        self.defaults = {field.attname: field.get_default for field in self.fields}
        self.required: Any = model._meta.get_field(requiring) if requiring else None
        self.cache_key = ("insert", model, requiring)

    def create(self, **values: Any) -> M:
        """Insert a row. Fields without a value get their defaults.
        Inside of `register_inserted_row_selection`, select the row too.

        Raises `DoesNotExist` of the required model, `SelectedFieldError`, and Django's database errors. In all these
        cases nothing is inserted.
        """
        row = {name: values[name] if name in values else default() for name, default in self.defaults.items()}
        if not values.keys() <= row.keys():
            unknown = ", ".join(sorted(values.keys() - row.keys()))
            raise TypeError(f"{self.model.__name__} has no columns {unknown}.")
        using, selection, statement = self.using, registered.get(), self.insert_statement
        actor, arguments = ANONYMOUS, []
        if selection is not None and self.can_select(selection.request):
            request, actor = selection.request, selection.request.actor
            selecting = get_statement(self.cache_key, request, lambda: self.compile_statement(request))
            arguments = [read(request.variables) for read in selecting.arguments]  # raises before anything is written
            statement = selecting if selecting.sql else statement  # the caller selects in a second statement
        inputs = ExecutionInputs(actor, row, None, 0, None, arguments)
        if selection is None or statement is self.insert_statement:
            return self.build_instance(statement.execute(using, inputs), row, using)
        # A cursor of another row is found only in the result: the transaction undoes the insertion.
        with transaction.atomic(using) if has_unverified_cursor(arguments) else nullcontext():
            result = statement.execute(using, inputs)
            instance = self.build_instance(result, row, using)
            text = result.get_value(0, 1) or b""
            reject_foreign_cursors(arguments, [text])
        selection.row, selection.text = instance, text
        return instance

    def can_select(self, request: SelectionRequest) -> bool:
        if request.column is not None or request.last_is_optional:
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
        sql, parameters = self.build_insert_sql(f'"{self.key.column}"')
        return build_numbered_statement(sql, tuple(parameters))

    def compile_statement(self, request: SelectionRequest) -> Statement:
        """Compile the statement that inserts a row and selects it:

            WITH "inserted" AS (INSERT INTO "blog_post" ("title", …) VALUES ($1, …) RETURNING *)
            SELECT (SELECT "id" FROM "inserted"), row_to_json(r.*)
            FROM (SELECT "blog_post"."title" AS "_0" FROM "inserted" "blog_post") AS r("title")

        Returns a statement without SQL if the selection reads other rows of the same table: all parts of a statement
        see the tables as they were before it, without the inserted row.
        """
        compilation = CompilationContext(request.actor, request.variables)
        query, keys = request.projection.select(self.model._base_manager.order_by(), request.select(), compilation)
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

    def build_insert_sql(self, returned: str) -> tuple[str, list[Parameter]]:
        """Return SQL and its parameters:

        INSERT INTO "blog_post" ("title", "author_id") SELECT %s, %s
        WHERE EXISTS (SELECT 1 FROM "blog_author" WHERE "id" = %s) RETURNING "id"
        """
        columns = ", ".join(f'"{field.column}"' for field in self.fields)
        values = ", ".join(["%s"] * len(self.fields))
        start = f'INSERT INTO "{self.table}" ({columns})'
        parameters = [build_value_parameter(field.attname) for field in self.fields]
        if self.required is None:
            return f"{start} VALUES ({values}) RETURNING {returned}", parameters
        target = self.required.related_model._meta
        exists = f'EXISTS (SELECT 1 FROM "{target.db_table}" WHERE "{target.pk.column}" = %s)'  # noqa: S608
        sql = f"{start} SELECT {values} WHERE {exists} RETURNING {returned}"
        return sql, [*parameters, build_value_parameter(self.required.attname)]


def build_value_parameter(name: str) -> Parameter:
    return Parameter(lambda inputs: inputs.rows[name])
