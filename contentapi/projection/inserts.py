"""Prepared INSERT statements that can also select the JSON of the inserted row."""

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Model
from django.db.models.base import ModelState
from django.db.models.sql.datastructures import BaseTable
from psycopg.pq.abc import PGresult

from contentapi.core.identity import ANONYMOUS
from contentapi.db.distribution import get_backend
from contentapi.projection.compiled import Statement, build_numbered_statement
from contentapi.projection.connections import list_cursors, reject_foreign_cursors
from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import CompilationContext, Projection
from contentapi.projection.libpq import read_column
from contentapi.projection.selections import ExecutionInputs
from contentapi.projection.statements import SelectionRequest, get_statement

M = TypeVar("M", bound=Model)
WITHOUT_TRANSACTION = nullcontext()


class InsertedRow(BaseTable):
    """The row of an INSERT, in its RETURNING, under the name of its table: `(SELECT "blog_post".*) "blog_post"`."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's signature
        return f'(SELECT "{self.table_name}".*) "{self.table_name}"', ()


@dataclass(slots=True)
class InsertedRowSelection:
    """The selection of a row that a mutation writes, and, after the write, the row's JSON object.

    Inside of a `with` block, `PreparedInsert.create` inserts and selects the row in one statement. So a transport
    states its selection without passing it through the service. Otherwise a second statement reads the row.
    """

    request: SelectionRequest
    row: Model | None = None
    text: bytes = b""
    token: Any = None

    def __enter__(self) -> Self:
        self.token = registered.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        registered.reset(self.token)

    def get_json(self, row: Model) -> bytes | None:
        """Return the JSON object of a row, or None if its write did not select it."""
        return self.text if row is self.row else None


registered: ContextVar[InsertedRowSelection | None] = ContextVar("returning_selection", default=None)


class PreparedInsert(Generic[M]):
    """`objects.create` as a prepared statement, for a model without parent models, signals and a `save` of its own.

    Values must have the Python types of their fields. `requiring` names a foreign key: the row is inserted only if the
    row that the key refers to exists. `found_by` names a unique field of that row: `create` takes the value of this
    field instead of the key. `unique` names a field with a unique index. The row is inserted only if no other row has
    its value in this field, and no row of the model `reserved` has it in the field of the same name. `without` names
    fields that the statement leaves out, because no row that is given to it has a value there: each value takes time.
    """

    def __init__(
        self,
        model: type[M],
        *,
        requiring: str | None = None,
        found_by: str | None = None,
        unique: str | None = None,
        reserved: type[Model] | None = None,
        without: Collection[str] = (),
    ) -> None:
        self.model = model
        self.table = model._meta.db_table
        self.key = model._meta.pk
        self.required = find_field(model, requiring)
        self.found_by = find_field(self.required.related_model, found_by) if found_by else None
        columns = [each for each in model._meta.local_concrete_fields if not (each.primary_key or each.generated)]
        self.fields: list[Any] = [field for field in columns if field.name not in without]
        given = {field.attname: field for field in columns}
        if self.found_by:
            given[self.found_by.attname] = given.pop(self.required.attname)
        self.computed = {
            name: each.default for name, each in given.items() if each.has_default() and callable(each.default)
        }
        self.constants = {name: each.get_default() for name, each in given.items() if name not in self.computed}
        self.unique, self.reserved = unique, reserved
        self.returns_json = get_backend().insert(True, False)  # the JSON of other rows, in RETURNING
        self.cache_key = ("insert", model, requiring, found_by, unique, tuple(without))
        self.insertion = self.build_insertion()
        self.insert_statement = build_numbered_statement(self.insertion[0], ())
        self.read_values = itemgetter(*self.insertion[1])  # from a row: the values of the statement's parameters

    def create(self, values: Mapping[str, Any]) -> M | None:
        """Insert a row, and select it inside of an `InsertedRowSelection`. Fields without a value get their defaults.

        Returns None without the required row, and for a value that is not unique. Raises `SelectedFieldError` and
        Django's database errors. In all these cases nothing is inserted. Raises `ResponseTooLarge` after the insertion:
        a selection with `room` is made in a transaction.
        """
        row = {**self.constants, **values}
        for name in self.computed.keys() - values.keys():
            row[name] = self.computed[name]()
        if len(row) > len(self.constants) + len(self.computed):
            unknown = ", ".join(sorted(values.keys() - self.constants.keys() - self.computed.keys()))
            raise TypeError(f"{self.model.__name__} has no columns {unknown}.")
        selection, statement = registered.get(), self.insert_statement
        actor, arguments = ANONYMOUS, []
        if selection is not None and self.can_select(selection.request):
            request, actor = selection.request, selection.request.actor
            selecting = get_statement(self, request, PreparedInsert.compile_statement)
            arguments = [read(request.variables) for read in selecting.arguments]  # raises before anything is written
            statement = selecting if selecting.sql else statement  # the caller selects in a second statement
        inputs = ExecutionInputs(actor, None, None, arguments)
        # A cursor of another row is found only in the result: the transaction undoes the insertion.
        with transaction.atomic() if arguments and list_cursors(arguments) else WITHOUT_TRANSACTION:
            result = statement.execute(DEFAULT_DB_ALIAS, inputs, self.read_values(row))
            if not result.ntuples:
                return None
            instance = self.build_instance(result, row)
            if selection is not None and statement is not self.insert_statement:
                texts = read_column(result, result.nfields - 1, selection.request.room)
                reject_foreign_cursors(arguments, texts)
                selection.row, selection.text = instance, texts[0]
        return instance

    def can_select(self, request: SelectionRequest) -> bool:
        if request.column is not None or not self.returns_json:
            return False
        return isinstance(request.projection, Projection) and request.projection.model is self.model

    def build_instance(self, result: PGresult, row: dict[str, Any]) -> M:
        """Turn the inserted row into a saved instance, as `from_db` does, without the descriptors of its fields."""
        instance, state = self.model.__new__(self.model), ModelState()
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        if self.found_by:
            del row[self.found_by.attname]
            row[self.required.attname] = int(result.get_value(0, 1) or 0)
        row |= {"_state": state, self.key.attname: int(result.get_value(0, 0) or 0)}
        instance.__dict__ = row
        return instance

    def compile_statement(self, request: SelectionRequest) -> Statement:
        """Compile the statement that inserts a row and selects it:

            INSERT INTO "blog_post" ("title", …) SELECT $1, … RETURNING "id", (
              SELECT row_to_json(r.*)
              FROM (SELECT "blog_post"."title" AS "_0" FROM (SELECT "blog_post".*) "blog_post") AS r("title"))

        Returns a statement without SQL if the selection reads other rows of the same table: all parts of a statement
        see the tables as they were before it, without the inserted row.
        """
        compilation = CompilationContext(request.actor, request.variables)
        query, keys = request.projection.select(self.model._base_manager.order_by(), request.select(), compilation)
        query.query.alias_map[self.table] = InsertedRow(self.table, self.table)
        selected, parameters = query.query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        if f'FROM "{self.table}"' in selected or f'JOIN "{self.table}"' in selected:
            return Statement("", b"", tuple(parameters), tuple(compilation.arguments))
        object_sql, columns = build_json_object_sql(keys)
        sql = f"{self.insertion[0]}, (SELECT {object_sql} FROM ({selected}) AS r({columns}))"  # noqa: S608 - no values
        return build_numbered_statement(sql, parameters, compilation)

    def build_insertion(self) -> tuple[str, list[str]]:
        """Return the statement without a selection, and the names of its values in a row:

        INSERT INTO "blog_post" ("slug", "author_id") SELECT %s, "id" FROM "blog_author" WHERE "user_id" = %s
        AND NOT EXISTS (
          SELECT 1 FROM (SELECT "slug" FROM "blog_oldslug" UNION ALL SELECT "slug" FROM "blog_post") AS taken
          WHERE "slug" = %s)
        ON CONFLICT ("slug") DO NOTHING RETURNING "id", "author_id"
        """
        fields = [field for field in self.fields if field is not self.required]
        names, columns = [field.attname for field in fields], ", ".join(f'"{field.column}"' for field in fields)
        start, values, key = f'INSERT INTO "{self.table}"', ", ".join(["%s"] * len(fields)), self.key.column
        if self.required is None:
            return f'{start} ({columns}) VALUES ({values}) RETURNING "{key}"', names
        target, reference = self.required.related_model._meta, self.required.column
        selected = f'SELECT {values}, "{target.pk.column}" FROM "{target.db_table}"'  # noqa: S608 - names only
        condition = f'WHERE "{(self.found_by or target.pk).column}" = %s'
        names.append((self.found_by or self.required).attname)
        if self.unique is not None and self.reserved is not None:
            # In one snapshot: a value that another transaction moves between the tables is found in one of them.
            tables = self.reserved._meta.db_table, self.table
            taken = " UNION ALL ".join(f'SELECT "{self.unique}" FROM "{table}"' for table in tables)  # noqa: S608 - names
            condition += f' AND NOT EXISTS (SELECT 1 FROM ({taken}) AS taken WHERE "{self.unique}" = %s)'  # noqa: S608
            condition += f' ON CONFLICT ("{self.unique}") DO NOTHING'
            names.append(self.unique)
        return f'{start} ({columns}, "{reference}") {selected} {condition} RETURNING "{key}", "{reference}"', names


def find_field(model: type[Model], name: str | None) -> Any:
    return model._meta.get_field(name) if name else None
