"""SQL literals, which are constants in the text of a statement, and the type of all expressions."""

from typing import Any, TypeAlias

from django.db.models import Expression, F, Subquery, TextField
from django.db.models.sql.compiler import SQLCompiler

Term: TypeAlias = Expression | F | Subquery


class TextLiteral(Expression):
    """A text constant that is part of the statement instead of a parameter: `'published'`.

    A prepared statement is planned without the values of its parameters. PostgreSQL uses a partial index only if the
    text of the statement implies the condition of the index. Never create a literal from a value of a client.
    """

    def __init__(self, text: str) -> None:
        super().__init__(output_field=TextField())
        self.text = text

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return "'{}'".format(self.text.replace("'", "''").replace("%", "%%")), ()
