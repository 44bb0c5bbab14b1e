"""A compiled statement: SQL with the values of its placeholders, and those of the rows that it leaves out."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from psycopg.pq.abc import PGresult

from contentapi.projection.expressions import build_json_object_sql
from contentapi.projection.fields import CompilationContext
from contentapi.projection.libpq import execute
from contentapi.projection.selections import Parameter

LONGEST_PREPARED = 16 * 1024  # bytes; a prepared statement occupies memory of the server in proportion to its text
PLACEHOLDER_OR_PERCENT = re.compile("%s|%%")


@dataclass(slots=True)
class Statement:
    """A compiled statement. `parameters` are the values of its placeholders, in their order.

    `arguments` are functions of a request's variables. Each returns the parsed arguments of one selected field, from
    which parameters read their values.
    """

    sql: str  # with %s, as Django writes and logs it
    numbered_sql: bytes  # with $1, $2 …, as PostgreSQL reads it
    parameters: tuple[Any, ...]
    arguments: tuple[Callable[[Any], Any], ...]
    deferred: Sequence[tuple["Statement", bool]] = ()  # those of the deferred fields, and whether they are lists
    weight: int = 0  # in the cache, in bytes of text: a measure of the memory in use
    has_run: bool = False

    @property
    def length(self) -> int:
        """The length of its SQL and of that of its deferred fields."""
        return len(self.sql) + sum(nested.length for nested, _ in self.deferred)

    def execute(self, using: str, inputs: Any, row: Iterable[Any] = ()) -> PGresult:
        """Execute the statement. Parameters read their values from `inputs`. Those of a row to insert come first."""
        values = [*row]
        for each in self.parameters:
            value = each.read(inputs) if type(each) is Parameter else each
            values.append(value)
        is_worth_preparing = self.has_run and len(self.numbered_sql) <= LONGEST_PREPARED
        result = execute(using, self.sql, self.numbered_sql, values, prepare=is_worth_preparing)
        self.has_run = True
        return result


def build_json_statement(
    query: str,
    parameters: tuple[Any, ...],
    keys: Sequence[str],
    compilation: CompilationContext | None = None,
) -> Statement:
    """Return the statement that makes a JSON object of each row of a query. The keys name its columns.

    SELECT row_to_json(r.*) FROM (SELECT "users_user"."email" AS "_0" FROM "users_user") AS r("email")
    """
    object_sql, columns = build_json_object_sql(keys)
    sql = f"SELECT {object_sql} FROM ({query}) AS r({columns})"  # noqa: S608 - every value is a parameter
    return build_numbered_statement(sql, parameters, compilation)


def build_numbered_statement(
    sql: str, parameters: Sequence[Any], compilation: CompilationContext | None = None
) -> Statement:
    """Return the statement for SQL with Django's placeholders: `a = %s OR b = '10%%'` is `a = $1 OR b = '10%'`."""
    number = count(1)
    numbered_sql = PLACEHOLDER_OR_PERCENT.sub(lambda found: f"${next(number)}" if found[0] == "%s" else "%", sql)
    arguments = () if compilation is None else tuple(compilation.arguments)
    fields = () if compilation is None else compilation.deferred
    deferred = [(build_numbered_statement(*field[:3]), field.is_list) for field in fields]
    return Statement(sql, numbered_sql.encode(), tuple(parameters), arguments, deferred)
