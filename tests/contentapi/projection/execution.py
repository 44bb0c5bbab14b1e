"""Execute a document as the endpoint does, and record the statements."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import connection
from graphql import GraphQLSchema

from blog.services import authors
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.graphql.documents import DocumentRejected, get_operation
from contentapi.graphql.errors import build_error_entries
from contentapi.schema import SCHEMA

RETURNED_JSON = '", (SELECT '  # in the INSERT of a creation


@dataclass
class Executed:
    """The bytes of a response, its errors, and the executed statements with their parameters."""

    content: bytes
    errors: list[dict[str, Any]]
    statements: list[tuple[str, tuple[Any, ...]]]

    @property
    def reads(self) -> list[tuple[str, tuple[Any, ...]]]:
        """The statements of the projections: all that select, without the internal queries of services."""
        own = [query.prepared.sql for query in (authors.AUTHOR, authors.AUTHOR_OF_USER)]
        read = [each for each in self.statements if each[0].startswith("SELECT") or RETURNED_JSON in each[0]]
        return [each for each in read if each[0] not in own]

    @property
    def data(self) -> Any:
        assert not self.errors, self.errors
        return json.loads(self.content)["data"]


@contextmanager
def recorded() -> Iterator[list[tuple[str, tuple[Any, ...]]]]:
    """Collect the statements of the default connection, each with its parameters."""
    statements: list[tuple[str, tuple[Any, ...]]] = []

    def record(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
        statements.append((sql, tuple(parameters or ())))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(record):
        yield statements


def run(
    text: str,
    variables: dict[str, Any] | None = None,
    *,
    actor: Actor = ANONYMOUS,
    operation_name: str | None = None,
    schema: GraphQLSchema = SCHEMA,
) -> Executed:
    """Execute a document with the product's executor."""
    with recorded() as statements:
        try:
            operation = get_operation(schema, text, operation_name)
            result = operation.execute(variables or {}, {"actor": actor})
            data, found = {"data": result.data}, result.errors or []
        except DocumentRejected as error:
            data, found = {}, error.errors
    errors = build_error_entries(found)[0] if found else []
    return Executed(msgspec.json.encode(data | ({"errors": errors} if errors else {})), errors, statements)
