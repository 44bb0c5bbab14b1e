"""What of our own runs with every request: compiled once, prepared on the server, given values each time."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from django.db import connections, router
from django.db.models import F, Model, QuerySet

from contentapi.projection.cursors import execute
from contentapi.projection.selections import Parameter
from contentapi.projection.statements import Statement, statement_of

T = TypeVar("T", bound=msgspec.Struct)
M = TypeVar("M", bound=Model)
Given = Callable[[str], Any]


class PreparedQuery(Generic[T]):
    """A QuerySet whose rows are read into a msgspec Struct.

    `rows` makes the QuerySet, with `given("name")` in place of each value. A column is called as its field in the
    Struct, unless `columns` names another.
    """

    def __init__(
        self, row: type[T], rows: Callable[[Given], QuerySet[Any]], columns: Mapping[str, str] | None = None
    ) -> None:
        self.row = row
        self.rows = rows
        self.columns = columns or {}

    def first(self, **values: Any) -> T | None:
        """Return the first row, None when there is none. Raises Django's database errors."""
        statement, using = self.prepared
        texts = statement.run(using, values)
        return msgspec.json.decode(texts[0], type=self.row) if texts else None

    @cached_property
    def prepared(self) -> tuple[Statement, str]:
        rows = self.rows(lambda name: Parameter(lambda values: values[name]))
        names = self.row.__struct_fields__
        columns = {f"_{place}": F(self.columns.get(name, name)) for place, name in enumerate(names)}
        sql, parameters = rows.values(**columns)[:1].query.get_compiler(rows.db).as_sql()
        return statement_of(sql, tuple(parameters), names), rows.db


class PreparedInsert(Generic[M]):
    """`objects.create` of a plain model, without what others may need: parents, signals, a `save` of their own."""

    def __init__(self, model: type[M]) -> None:
        self.model = model

    def create(self, **values: Any) -> M:
        """Insert a row; fields that are left out have their defaults. Raises Django's database errors."""
        row = self.model(**values)
        using = router.db_for_write(self.model)
        connection = connections[using]
        prepared = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in self.fields]
        query, sql = self.texts
        row.pk = int(execute(using, query, sql, prepared, prepare=True)[0])
        row._state.adding, row._state.db = False, using
        return row

    @cached_property
    def fields(self) -> list[Any]:
        return [field for field in self.model._meta.local_concrete_fields if not field.primary_key]

    @cached_property
    def texts(self) -> tuple[str, bytes]:
        quote = connections[router.db_for_write(self.model)].ops.quote_name
        table, key = quote(self.model._meta.db_table), quote(str(self.model._meta.pk.column))
        columns = ", ".join(quote(field.column) for field in self.fields)
        start = f"INSERT INTO {table} ({columns}) VALUES"
        places = ", ".join(["%s"] * len(self.fields))
        numbers = ", ".join(f"${number}" for number in range(1, len(self.fields) + 1))
        return f"{start} ({places}) RETURNING {key}", f"{start} ({numbers}) RETURNING {key}".encode()
