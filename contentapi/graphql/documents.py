"""The document of a request: parsed and validated within limits, once for each text, before anything is executed."""

from collections.abc import Collection
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from graphql import (
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    Node,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    Source,
    StringValueNode,
    TokenKind,
    TypeInfo,
    ValidationRule,
    parse,
    specified_rules,
    validate,
)

from contentapi.caching import BoundedCache
from contentapi.errors import LimitExceeded
from contentapi.graphql.costs import Costs, measure
from contentapi.graphql.errors import ValidationFailed
from contentapi.text import is_storable

INTROSPECTION_FIELDS = ("__schema", "__type")
INTROSPECTION_DEPTH = 15


class Known(NamedTuple):
    """A valid document, and what its operations cost."""

    document: DocumentNode
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
    """Parse the text of a request, unless it is known. Raises a syntax error, or a `GraphQLError` for a limit."""
    known = DOCUMENTS.get(request["query"])
    if known is not None:
        return known.document
    text, longest = request["query"], settings.ENVIRONMENT.contentapi_max_query_length
    length = len(text.encode())
    if length > longest:
        raise over_limit(f"The query has {length} bytes; at most {longest} are allowed (CONTENTAPI_MAX_QUERY_LENGTH).")
    most = settings.ENVIRONMENT.contentapi_max_tokens
    try:
        return parse(text, max_lexical_tokens=most, max_comments=most)
    except GraphQLSyntaxError:
        if has_more_tokens(text, most):
            raise over_limit(
                f"The query has more tokens or comments than the {most} that are allowed (CONTENTAPI_MAX_TOKENS)."
            ) from None
        raise


def has_more_tokens(text: str, most: int) -> bool:
    """Say whether a text that cannot be parsed has more tokens than this, or more comments."""
    lexer = Lexer(Source(text))
    counts = {True: 0, False: 0}
    token = lexer.token
    while token.kind is not TokenKind.EOF and max(counts.values()) <= most:
        token = token.next or lexer.read_next_token(token.end)
        counts[token.kind is TokenKind.COMMENT] += 1
    return max(counts.values()) > most


def validate_document(
    schema: GraphQLSchema,
    document_ast: DocumentNode,
    rules: Collection[type[ASTValidationRule]] | None = None,
    max_errors: int | None = None,
    type_info: TypeInfo | None = None,  # noqa: ARG001 - Ariadne's protocol
) -> list[GraphQLError]:
    """Validate a document and hold it to its depths, unless it is known. Returns what is wrong with it."""
    if known_costs(document_ast) is not None:
        return []
    errors = validate(
        schema, document_ast, rules=[*(rules or specified_rules), StorableStringsRule], max_errors=max_errors
    )
    for error in errors:
        error.original_error = ValidationFailed(error.message)
    errors = errors or depth_errors(document_ast)
    if not errors:
        forget_tokens(document_ast)
        DOCUMENTS.put(text_of(document_ast), Known(document_ast, measured(schema, document_ast)))
    return errors


def costs_of(schema: GraphQLSchema, document: DocumentNode) -> Costs:
    """Return what the operations of a valid document cost; one too large to be kept is measured anew."""
    costs = known_costs(document)
    return measured(schema, document) if costs is None else costs


def measured(schema: GraphQLSchema, document: DocumentNode) -> Costs:
    try:
        return measure(schema, document)
    except RecursionError:
        raise far_too_deep() from None


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


def depth_errors(document: DocumentNode) -> list[GraphQLError]:
    most = settings.ENVIRONMENT.contentapi_max_depth
    try:
        fields, introspection = depths(document)
    except RecursionError:  # fragments that spread each other hundreds of times over
        return [far_too_deep()]
    if fields > most:
        return [over_limit(f"The query is {fields} fields deep; at most {most} are allowed (CONTENTAPI_MAX_DEPTH).")]
    if introspection > INTROSPECTION_DEPTH:
        return [over_limit(f"Introspection is {introspection} fields deep; at most {INTROSPECTION_DEPTH} are allowed.")]
    return []


def depths(document: DocumentNode) -> tuple[int, int]:
    """Return how many fields of a valid document stand within each other: its own, and those of introspection.

    Every fragment is measured once, so the work grows with the document and not with what it expands to.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}

    def deepest(selections: SelectionSetNode | None) -> tuple[int, int]:
        found = [of_selection(selection) for selection in selections.selections] if selections else []
        return max((own for own, _ in found), default=0), max((other for _, other in found), default=0)

    @cache
    def of_fragment(name: str) -> tuple[int, int]:
        return deepest(fragments[name].selection_set)

    def of_selection(selection: SelectionNode) -> tuple[int, int]:
        if isinstance(selection, FragmentSpreadNode):
            return of_fragment(selection.name.value)
        fields, introspection = deepest(getattr(selection, "selection_set", None))
        if not isinstance(selection, FieldNode):
            return fields, introspection
        if selection.name.value in INTROSPECTION_FIELDS:
            return 0, fields + 1  # what is selected on the schema's own types counts as introspection
        return fields + 1, introspection

    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = [deepest(operation.selection_set) for operation in operations]
    return max(own for own, _ in found), max(other for _, other in found)


def far_too_deep() -> GraphQLError:
    most = settings.ENVIRONMENT.contentapi_max_depth
    return over_limit(f"The query is far deeper than the {most} that are allowed (CONTENTAPI_MAX_DEPTH).")


def over_limit(message: str) -> GraphQLError:
    return GraphQLError(message, original_error=LimitExceeded(message))
