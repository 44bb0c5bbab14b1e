"""Rows that are inserted; and what is selected of them, by the statement that inserts them."""

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

from contentapi.projection.connections import can_belong_to_other_parent, require_own_cursors
from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import Compilation, Projection
from contentapi.projection.selections import ExecutionInputs
from contentapi.projection.statements import SelectionRequest, Statement, get_statement, to_numbered_placeholders

M = TypeVar("M", bound=Model)
AS_IT_IS = nullcontext()
MADE = "made"  # the inserted row, in a statement that selects from it


@dataclass(slots=True)
class ReturningSelection:
    """The selection of a row that is about to be inserted, and, after the insertion, the row's JSON object.

    `PreparedInsert.create` selects the row in the statement that inserts it. A row that was written in another way has
    no JSON object here: the caller reads it by a second statement.
    """

    reading: SelectionRequest
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
    """`objects.create` of a plain model, without what others may need: parents, signals, a `save` of their own.

    Values must be of the types that their fields have in Python. `requiring` names a foreign key: what it is to point
    at must be there.
    """

    def __init__(self, model: type[M], *, requiring: str | None = None) -> None:
        self.model = model
        self.table = model._meta.db_table
        self.key = model._meta.pk
        self.fields: list[Any] = [field for field in model._meta.local_concrete_fields if not field.primary_key]
        self.defaults = {field.attname: field.get_default for field in self.fields}
        self.required: Any = model._meta.get_field(requiring) if requiring else None
        self.name = ("insert", model, requiring)

    def create(self, **values: Any) -> M:
        """Insert a row; fields that are left out have their defaults. Inside of `returning`, select it too.

        Raises the required model's `DoesNotExist`, what reading the selected arguments raises, and Django's database
        errors; in all cases nothing has been inserted.
        """
        given = {name: values[name] if name in values else default() for name, default in self.defaults.items()}
        if not values.keys() <= given.keys():
            unknown = ", ".join(sorted(values.keys() - given.keys()))
            raise TypeError(f"{self.model.__name__} has no columns {unknown}.")
        using, returning = self.using, registered.get()
        if returning is None or not self.is_projected_by(returning.reading):
            return self.row_of(self.alone.execute(using, None, self.bound(given)), given, using)
        reading = returning.reading
        statement = get_statement(self.name, reading, lambda: self.compiled(reading))
        arguments = [read(reading.variables) for read in statement.arguments]
        inputs = ExecutionInputs(reading.actor, None, None, 0, None, arguments)
        if not statement.sql:
            statement.values(inputs)  # what is wrong with an argument is told before anything is written
            return self.row_of(self.alone.execute(using, None, self.bound(given)), given, using)
        with transaction.atomic(using) if arguments and can_belong_to_other_parent(arguments) else AS_IT_IS:
            result = statement.execute(using, inputs, self.bound(given))
            row, text = self.row_of(result, given, using), result.get_value(0, 1) or b""
            require_own_cursors(arguments, [text])
        returning.row, returning.text = row, text
        return row

    def is_projected_by(self, reading: SelectionRequest) -> bool:
        return isinstance(reading.projection, Projection) and reading.projection.model is self.model

    def row_of(self, result: PGresult, given: dict[str, Any], using: str) -> M:
        """Return the row that was inserted, as `from_db` would, but past its fields' descriptors.

        Raises the required model's `DoesNotExist`.
        """
        if result.ntuples == 0:
            raise self.required.related_model.DoesNotExist
        row, state = self.model.__new__(self.model), ModelState()
        state.adding, state.db = False, using
        row.__dict__ = {"_state": state, self.key.attname: int(result.get_value(0, 0) or 0), **given}
        return row

    @property
    def using(self) -> str:
        return router.db_for_write(self.model)

    @cached_property
    def alone(self) -> Statement:
        return to_numbered_placeholders(*self.insertion(f'"{self.key.column}"'), ())

    def compiled(self, reading: SelectionRequest) -> Statement:
        """Return the statement that inserts a row and reads it; one without SQL where others of its table are read.

        All parts of a statement see the tables as they were before it, without the row that it inserts.
        """
        compilation = Compilation(reading.actor, reading.variables)
        projection = cast("Projection", reading.projection)
        query, keys = projection.select(self.model._base_manager.order_by(), reading.select(), compilation)
        query.query.alias_map[self.table] = BaseTable(MADE, self.table)  # the inserted row, by the table's own name
        selected, parameters = query.query.get_compiler(self.using).as_sql()
        arguments = tuple(compilation.arguments)
        if f'FROM "{self.table}"' in selected or f'JOIN "{self.table}"' in selected:
            return Statement("", b"", tuple(parameters), arguments)
        made, columns = build_json_object_sql(keys)
        insertion, values = self.insertion("*")
        sql = (
            f'WITH "{MADE}" AS ({insertion}) SELECT (SELECT "{self.key.column}" FROM "{MADE}"), {made}'  # noqa: S608
            f" FROM ({selected}) AS r({columns})"
        )
        return to_numbered_placeholders(sql, (*values, *parameters), arguments)

    def bound(self, given: dict[str, Any]) -> list[Any]:
        """Return the values for the places of an insertion, given those of the fields."""
        return [*given.values(), given[self.required.attname]] if self.required else [*given.values()]

    def insertion(self, returned: str) -> tuple[str, tuple[None, ...]]:
        """Return SQL, and what stands for the values that are `bound` to its places."""
        columns = ", ".join(f'"{field.column}"' for field in self.fields)
        values = ", ".join(["%s"] * len(self.fields))
        start = f'INSERT INTO "{self.table}" ({columns})'
        if self.required is None:
            return f"{start} VALUES ({values}) RETURNING {returned}", (None,) * len(self.fields)
        target = self.required.target_field
        exists = f'EXISTS (SELECT 1 FROM "{target.model._meta.db_table}" WHERE "{target.column}" = %s)'  # noqa: S608
        return f"{start} SELECT {values} WHERE {exists} RETURNING {returned}", (None,) * (len(self.fields) + 1)
