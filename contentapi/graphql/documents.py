"""The document of a request: parsed and validated within limits, once for each text, before anything is executed."""

from collections.abc import Collection
from typing import Any, NamedTuple

from django.conf import settings
from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    Node,
    Source,
    StringValueNode,
    TokenKind,
    TypeInfo,
    ValidationRule,
    parse,
    specified_rules,
    validate,
)
from graphql.language.parser import MAX_NESTING_DEPTH
from graphql.validation import validation_context
from graphql.validation.rules import overlapping_fields_can_be_merged
from graphql.validation.rules.max_introspection_depth_rule import MAX_LIST_DEPTH

from contentapi.caching import BoundedCache
from contentapi.errors import LimitExceeded
from contentapi.graphql.costs import Costs, measure
from contentapi.graphql.errors import ValidationFailed
from contentapi.graphql.limits import MAX_NESTING, Sizes, exceeded, require_within_limits, sizes_of
from contentapi.text import is_storable

MAX_ERRORS = 20  # of validation; whoever has more of them begins with these

# graphql-core holds fields of one name against each other, two by two, and lets its users say how often.
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = settings.ENVIRONMENT.contentapi_max_comparisons
validation_context.MAX_FRAGMENT_WORK = settings.ENVIRONMENT.contentapi_max_comparisons


class Known(NamedTuple):
    """A valid document, and the sizes and costs of its operations."""

    document: DocumentNode
    sizes: Sizes
    costs: Costs


# The valid documents that were asked for last. A parsed one takes some hundred times the memory of its text.
DOCUMENTS: BoundedCache[Known] = BoundedCache(
    settings.ENVIRONMENT.contentapi_document_cache, weigh=lambda known: 256 + len(text_of(known.document))
)


class StorableStringsRule(ValidationRule):
    """No string literal may hold what cannot be stored as text."""

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        if not is_storable(node.value):
            self.report_error(GraphQLError("A string must not contain the NUL character or lone surrogates.", node))


def parse_document(_: Any, request: dict[str, Any]) -> DocumentNode:
    """Parse the text of a request, unless it is known, and hold the operation that is asked for to its limits.

    Raises a syntax error, or a `GraphQLError` for a limit.
    """
    known = DOCUMENTS.get(request["query"])
    try:
        document = known.document if known else parse_within_limits(request["query"])
        require_within_limits(known.sizes if known else sizes_of(document), request.get("operationName"))
    except LimitExceeded as refusal:
        raise GraphQLError(refusal.message, original_error=refusal) from None
    return document


def parse_within_limits(text: str) -> DocumentNode:
    """Parse a text. Raises a syntax error, or `LimitExceeded`."""
    length, longest = len(text.encode()), settings.ENVIRONMENT.contentapi_max_query_length
    if length > longest:
        raise exceeded("length in bytes", length, longest, "contentapi_max_query_length")
    most = settings.ENVIRONMENT.contentapi_max_tokens
    try:
        return parse(text, max_lexical_tokens=most, max_comments=most, allow_empty_selection_sets=False)
    except GraphQLSyntaxError as error:
        for what, count in counted_tokens(text, most).items():
            if count > most:
                raise exceeded(what, f"{count} or more", most, "contentapi_max_tokens") from None
        if "nested too deeply" in error.message:
            raise exceeded("nesting", f"{MAX_NESTING_DEPTH + 1} or more", MAX_NESTING) from None
        raise


def counted_tokens(text: str, most: int) -> dict[str, int]:
    """Count the tokens of a text that cannot be parsed, and its comments, as far as one more than there may be."""
    counts = {"number of tokens": 0, "number of comments": 0}
    lexer = Lexer(Source(text))
    token = lexer.read_next_token(0)
    while token.kind is not TokenKind.EOF and max(counts.values()) <= most:
        counts["number of comments" if token.kind is TokenKind.COMMENT else "number of tokens"] += 1
        token = lexer.read_next_token(token.end)
    return counts


def validate_document(
    schema: GraphQLSchema,
    document_ast: DocumentNode,
    rules: Collection[type[ASTValidationRule]] | None = None,
    max_errors: int | None = None,  # noqa: ARG001 - Ariadne's protocol
    type_info: TypeInfo | None = None,  # noqa: ARG001 - Ariadne's protocol
) -> list[GraphQLError]:
    """Validate a document, unless it is known. Returns what is wrong with it."""
    if known_costs(document_ast) is not None:
        return []
    errors = validate(
        schema,
        document_ast,
        rules=[*(rules or specified_rules), StorableStringsRule],
        max_errors=MAX_ERRORS,
        hide_suggestions=settings.ENVIRONMENT.contentapi_introspection == "off",
        allow_empty_selection_sets=False,
    )
    for error in errors:
        error.original_error = refusal_of(error)
    if not errors:
        forget_tokens(document_ast)
        known = Known(document_ast, sizes_of(document_ast), measure(schema, document_ast))
        DOCUMENTS.put(text_of(document_ast), known)
    return errors


def refusal_of(error: GraphQLError) -> LimitExceeded | ValidationFailed:
    """Say what kind of failure an error of validation is. Limits of graphql-core's own are known by their words."""
    if error.message == "Validation aborted.":
        most = settings.ENVIRONMENT.contentapi_max_comparisons
        return exceeded("number of comparisons", f"{most + 1} or more", most, "contentapi_max_comparisons")
    if error.message == "Maximum introspection depth exceeded":
        return exceeded("depth of lists in introspection", f"{MAX_LIST_DEPTH} or more", MAX_LIST_DEPTH - 1)
    if error.original_error:  # Python's own, whose words graphql-core repeats: a number of too many digits to be read
        return ValidationFailed("This value cannot be read as its type.")
    return ValidationFailed(error.message)


def costs_of(schema: GraphQLSchema, document: DocumentNode) -> Costs:
    """Return what the operations of a valid document cost; one too large to be kept is measured anew."""
    costs = known_costs(document)
    return measure(schema, document) if costs is None else costs


def known_costs(document: DocumentNode) -> Costs | None:
    known = DOCUMENTS.get(text_of(document))
    return known.costs if known is not None and known.document is document else None


def forget_tokens(node: Node) -> None:
    """Let go of the tokens that a document was parsed from, each of which holds all others."""
    if node.loc is not None:
        node.loc.start_token = node.loc.end_token = None  # type: ignore[assignment]  # of no use after parsing
    for name in node.keys:
        value = getattr(node, name)
        for child in value if isinstance(value, list | tuple) else (value,):
            if isinstance(child, Node):
                forget_tokens(child)


def text_of(document: DocumentNode) -> str:
    return document.loc.source.body if document.loc else ""
