"""Executing a document as the endpoint does, and seeing which statements that takes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec
from ariadne import graphql_sync
from django.db import connection
from graphql import GraphQLSchema

from contentapi.graphql.documents import parse_document, validate_document
from contentapi.graphql.errors import ErrorReport
from contentapi.graphql.projections import ProjectingExecutor
from contentapi.graphql.schema import SCHEMA
from contentapi.identity import ANONYMOUS, Actor


@dataclass
class Executed:
    """What came of a document: the answer's bytes, its errors, and the statements with what is bound in them."""

    content: bytes
    errors: list[dict[str, Any]]
    statements: list[tuple[str, tuple[Any, ...]]]

    @property
    def reads(self) -> list[tuple[str, tuple[Any, ...]]]:
        """The statements that answer: all SELECTs but a service's own, which come right before it writes."""
        return [
            statement
            for statement, (next_sql, _) in pairwise([*self.statements, ("", ())])
            if statement[0].startswith("SELECT") and not next_sql.startswith("INSERT")
        ]

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
    """Execute a document by projection, as the endpoint does."""
    with recorded() as statements:
        _, result = graphql_sync(
            schema,
            {"query": text, "variables": variables, "operationName": operation_name},
            context_value={"actor": actor},
            query_parser=parse_document,
            query_validator=validate_document,
            error_formatter=ErrorReport().add,
            execution_context_class=ProjectingExecutor,
        )
    return Executed(msgspec.json.encode(result), result.get("errors", []), statements)
