"""SQL literals: values of our own that are part of a statement's text."""

from typing import Any

from django.db.models import Expression, TextField
from django.db.models.sql.compiler import SQLCompiler


class TextLiteral(Expression):
    """A text constant that is written into the statement instead of being bound as a parameter.

    A prepared statement is planned without the values of its parameters. PostgreSQL uses a partial index only where the
    text of the statement implies the index's condition. Never make one from a value that a client sent.
    """

    def __init__(self, text: str) -> None:
        super().__init__(output_field=TextField())
        self.text = text

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002 - Django's
        return "'{}'".format(self.text.replace("'", "''").replace("%", "%%")), ()
