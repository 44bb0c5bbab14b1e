"""The document of a request: parsed and validated within limits, once for each text, before anything is executed."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ariadne.validation.introspection_disabled import IntrospectionDisabledRule
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    Node,
    OperationDefinitionNode,
    Source,
    StringValueNode,
    TokenKind,
    ValidationRule,
    parse,
    specified_rules,
    validate,
)
from graphql.language.ast import QUERY_DOCUMENT_KEYS
from graphql.language.parser import MAX_NESTING_DEPTH
from graphql.validation import validation_context
from graphql.validation.rules import overlapping_fields_can_be_merged
from graphql.validation.rules.max_introspection_depth_rule import MAX_LIST_DEPTH

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import LimitExceeded
from contentapi.core.text import is_storable
from contentapi.graphql.costs import measure
from contentapi.graphql.errors import ValidationFailed
from contentapi.graphql.execution.combined_rules import combine_rules
from contentapi.graphql.execution.operations import DocumentFragments, Operation
from contentapi.graphql.limits import (
    MAX_NESTING,
    Sizes,
    get_operation_name,
    limit_exceeded,
    measure_operations,
    require_within_limits,
)

MAX_ERRORS = 20  # of validation; whoever has more of them begins with these

# graphql-core holds fields of one name against each other, two by two, and lets its users say how often.
overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = conf.environment.contentapi_max_comparisons
validation_context.MAX_FRAGMENT_WORK = conf.environment.contentapi_max_comparisons


class CachedDocument(NamedTuple):
    """A valid document, the sizes of its operations, and these ready to be executed."""

    document: DocumentNode
    sizes: Sizes
    operations: Mapping[str, Operation]

    def find_operation(self, name: str | None) -> Operation | None:
        """Return the operation of this name; without a name, the only one."""
        if name is None and len(self.operations) == 1:
            return next(iter(self.operations.values()))
        return self.operations.get(name) if name else None

    def require_operation(self, name: str | None) -> Operation:
        """Return the operation that a request asks for. Raises `DocumentRefused` where none is meant that is there."""
        operation = self.find_operation(name)
        if operation is None:
            raise DocumentRejected([GraphQLError(describe_missing_operation(name, len(self.operations)))])
        return operation


class DocumentRejected(Exception):
    """A document is not to be executed, for these reasons."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__(errors[0].message)
        self.errors = errors


# The valid documents that were asked for last. A parsed one takes some hundred times the memory of its text, and each
# of its operations may hold the root fields of all its fragments.
DOCUMENTS: BoundedCache[CachedDocument] = BoundedCache(
    conf.environment.contentapi_document_cache,
    weigh=lambda known: 256 + len(get_source_text(known.document)) * len(known.operations),
)


class StorableStringsRule(ValidationRule):
    """No string literal may hold what cannot be stored as text."""

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        if not is_storable(node.value):
            self.report_error(GraphQLError("A string must not contain the NUL character or lone surrogates.", node))


RULES = (*specified_rules, StorableStringsRule)


def get_operation(
    schema: GraphQLSchema, text: str, name: str | None, *, before_work: Callable[[], None] = lambda: None
) -> Operation:
    """Return the operation that a request asks for, held to its limits and ready to be executed.

    Raises `DocumentRefused`, and what `before_work` raises, which is called unless the operation is known.
    """
    environment = conf.environment
    known = DOCUMENTS.get((schema, text))
    operation = known.find_operation(name) if known else None
    if operation is None or operation.within is not environment:
        before_work()
        operation = get_document(schema, text, name).require_operation(name)
        operation.within = environment
    return operation


def get_document(schema: GraphQLSchema, text: str, operation_name: str | None) -> CachedDocument:
    """Return the document of a request, held to its limits and validated; parsed only where it is not known.

    Raises `DocumentRefused`.
    """
    known = DOCUMENTS.get((schema, text))
    try:
        document = known.document if known else parse_within_limits(text)
        sizes = known.sizes if known else measure_operations(document)
        require_within_limits(sizes, operation_name)
    except LimitExceeded as refusal:
        raise DocumentRejected([GraphQLError(refusal.message, original_error=refusal)]) from None
    except GraphQLError as error:
        raise DocumentRejected([error]) from None
    return known or validate_document(schema, document, sizes)


def parse_within_limits(text: str) -> DocumentNode:
    """Parse a text. Raises a syntax error, or `LimitExceeded`."""
    length, longest = len(text.encode()), conf.environment.contentapi_max_query_length
    if length > longest:
        raise limit_exceeded("length in bytes", length, longest, "contentapi_max_query_length")
    most = conf.environment.contentapi_max_tokens
    try:
        return parse(text, max_lexical_tokens=most, max_comments=most, allow_empty_selection_sets=False)
    except GraphQLSyntaxError as error:
        for what, count in count_tokens(text, most).items():
            if count > most:
                raise limit_exceeded(what, f"{count} or more", most, "contentapi_max_tokens") from None
        if "nested too deeply" in error.message:
            raise limit_exceeded("nesting", f"{MAX_NESTING_DEPTH + 1} or more", MAX_NESTING) from None
        raise


def count_tokens(text: str, most: int) -> dict[str, int]:
    """Count the tokens of a text that cannot be parsed, and its comments, as far as one more than there may be."""
    counts = {"number of tokens": 0, "number of comments": 0}
    lexer = Lexer(Source(text))
    token = lexer.read_next_token(0)
    while token.kind is not TokenKind.EOF and max(counts.values()) <= most:
        counts["number of comments" if token.kind is TokenKind.COMMENT else "number of tokens"] += 1
        token = lexer.read_next_token(token.end)
    return counts


def validate_document(schema: GraphQLSchema, document: DocumentNode, sizes: Sizes) -> CachedDocument:
    """Return a document that is known from now on. Raises `DocumentRefused`."""
    hidden = conf.environment.contentapi_introspection == "off"
    errors = validate(
        schema,
        document,
        rules=[combine_rules((*RULES, IntrospectionDisabledRule) if hidden else RULES)],
        max_errors=MAX_ERRORS,
        hide_suggestions=hidden,
        allow_empty_selection_sets=False,
    )
    for error in errors:
        error.original_error = classify_validation_error(error)
    if errors:
        raise DocumentRejected(errors)
    drop_token_links(document)
    costs = measure(schema, document)
    nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    fragments = DocumentFragments(document)
    operations = [Operation(schema, fragments, node, costs[get_operation_name(node)]) for node in nodes]
    known = CachedDocument(document, sizes, {get_operation_name(operation.node): operation for operation in operations})
    DOCUMENTS.put((schema, get_source_text(document)), known)
    return known


def describe_missing_operation(name: str | None, count: int) -> str:
    if name is not None:
        return f"Unknown operation named '{name}'."
    if count:
        return "Must provide operation name if query contains multiple operations."
    return "Must provide an operation."


def classify_validation_error(error: GraphQLError) -> LimitExceeded | ValidationFailed:
    """Say what kind of failure an error of validation is. Limits of graphql-core's own are known by their words."""
    if error.message == "Validation aborted.":
        most = conf.environment.contentapi_max_comparisons
        return limit_exceeded("number of comparisons", f"{most + 1} or more", most, "contentapi_max_comparisons")
    if error.message == "Maximum introspection depth exceeded":
        return limit_exceeded("depth of lists in introspection", f"{MAX_LIST_DEPTH} or more", MAX_LIST_DEPTH - 1)
    if error.original_error:  # Python's own, whose words graphql-core repeats: a number of too many digits to be read
        return ValidationFailed("This value cannot be read as its type.")
    return ValidationFailed(error.message)


def drop_token_links(document: DocumentNode) -> None:
    """Let go of the tokens that a document was parsed from, each of which holds all others, and these of each other."""
    token = document.loc.start_token if document.loc else None
    while token is not None:
        following, token.prev, token.next = token.next, None, None
        token = following
    drop_token_links_of_node(document)


def drop_token_links_of_node(node: Node) -> None:
    if node.loc is not None:
        node.loc.start_token = node.loc.end_token = None  # type: ignore[assignment]  # of no use after parsing
    for name in QUERY_DOCUMENT_KEYS.get(node.kind, ()):
        value = getattr(node, name)
        for child in value if isinstance(value, list | tuple) else (value,):
            if isinstance(child, Node):
                drop_token_links_of_node(child)


def get_source_text(document: DocumentNode) -> str:
    return document.loc.source.body if document.loc else ""
