"""Internal queries that run in many requests: a QuerySet compiled once to a prepared statement with parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from django.db import DEFAULT_DB_ALIAS
from django.db.models import F, QuerySet

from contentapi.core.replicas import ROUTE
from contentapi.projection.compiled import Statement, build_json_statement
from contentapi.projection.libpq import read_column
from contentapi.projection.selections import Parameter

T = TypeVar("T", bound=msgspec.Struct)
GetParameter = Callable[[str], Any]


@dataclass
class PreparedQuery(Generic[T]):
    """A query whose rows are read into a msgspec Struct.

        AUTHOR = PreparedQuery(AuthorRow, lambda given: Author.objects.filter(pk=given("id")))
        AUTHOR.first(id=7)

    `rows` returns the QuerySet. In it, `given("name")` is the value that `first` receives as `name`. Each field of the
    Struct is read from the column of its name, unless `columns` names another one. Rows without an order are at most
    one.
    """

    row: type[T]
    rows: Callable[[GetParameter], QuerySet[Any]]
    columns: Mapping[str, str] = field(default_factory=dict)

    def first(self, **values: Any) -> T | None:
        """Return the first row, or None if there is no row. Raises Django's database errors."""
        texts = read_column(self.prepared.execute(ROUTE.alias or DEFAULT_DB_ALIAS, values), 0)
        return msgspec.json.decode(texts[0], type=self.row) if texts else None

    @cached_property
    def prepared(self) -> Statement:
        rows = self.rows(lambda name: Parameter(lambda values: values[name]))
        names = self.row.__struct_fields__
        columns = {f"_{number}": F(self.columns.get(name, name)) for number, name in enumerate(names)}
        first = rows[:1] if rows.ordered else rows  # that of a unique key needs no LIMIT
        sql, parameters = first.values(**columns).query.get_compiler(rows.db).as_sql()
        return build_json_statement(sql, tuple(parameters), names)
