"""The document of a request: parsed and validated within limits."""

from collections.abc import Collection
from typing import Any

from django.conf import settings
from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    StringValueNode,
    TypeInfo,
    ValidationRule,
    parse,
    specified_rules,
    validate,
)

from contentapi.errors import LimitExceeded
from contentapi.graphql.errors import ValidationFailed
from contentapi.text import is_storable


class StorableStringsRule(ValidationRule):
    """No string literal may hold what cannot be stored as text."""

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        if not is_storable(node.value):
            self.report_error(GraphQLError("A string must not contain the NUL character or lone surrogates.", node))


def parse_document(_: Any, request: dict[str, Any]) -> DocumentNode:
    """Parse the text of a request. Raises a syntax error, or a `GraphQLError` for a limit."""
    text, longest = request["query"], settings.ENVIRONMENT.contentapi_max_query_length
    length = len(text.encode())
    if length > longest:
        limit = LimitExceeded(
            f"The query has {length} bytes; at most {longest} are allowed (CONTENTAPI_MAX_QUERY_LENGTH)."
        )
        raise GraphQLError(limit.message, original_error=limit)
    most = settings.ENVIRONMENT.contentapi_max_tokens
    return parse(text, max_lexical_tokens=most, max_comments=most)


def validate_document(
    schema: GraphQLSchema,
    document_ast: DocumentNode,
    rules: Collection[type[ASTValidationRule]] | None = None,
    max_errors: int | None = None,
    type_info: TypeInfo | None = None,  # noqa: ARG001 - Ariadne's protocol
) -> list[GraphQLError]:
    errors = validate(
        schema, document_ast, rules=[*(rules or specified_rules), StorableStringsRule], max_errors=max_errors
    )
    for error in errors:
        error.original_error = ValidationFailed(error.message)
    return errors
