"""Parse and validate the documents of requests within limits, and cache them by their text."""

from collections.abc import Callable, Mapping

import msgspec
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    OperationType,
    parse,
)

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import LimitExceeded, Malformed
from contentapi.graphql.costs import measure_costs
from contentapi.graphql.errors import find_cause
from contentapi.graphql.execution.operations import DocumentFragments, Operation
from contentapi.graphql.execution.validation import drop_token_links, find_validation_errors
from contentapi.graphql.limits import (
    Sizes,
    build_limit_error,
    build_nesting_error,
    get_operation_name,
    measure_operations,
    require_within_limit,
    require_within_limits,
)
from contentapi.monitoring.traces import trace


class CachedDocument(msgspec.Struct, frozen=True):
    """A valid document, the sizes of its operations, and its operations prepared for execution."""

    document: DocumentNode
    sizes: Sizes
    operations: Mapping[str, Operation]
    only: Operation | None  # the operation of a request without a name

    def find_operation(self, name: str | None) -> Operation | None:
        if name is None:
            return self.only
        return self.operations.get(name) if name else None

    def require_operation(self, name: str | None) -> Operation:
        """Return the operation of this name. Raises `DocumentRejected` when the document has no such operation."""
        operation = self.find_operation(name)
        if operation is not None:
            return operation
        message = f"Unknown operation named '{name}'."
        if name is None:
            several = "Must provide operation name if query contains multiple operations."
            message = several if self.operations else "Must provide an operation."
        raise DocumentRejected([GraphQLError(message)])


class DocumentRejected(Exception):
    """A document cannot be executed, because of `errors`."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__(errors[0].message)
        self.errors = errors


# The valid documents that were used last. A parsed document takes about a hundred times the memory of its text, and
# each of its operations may contain the root fields of all fragments.
DOCUMENTS: BoundedCache[CachedDocument] = BoundedCache(
    conf.environment.contentapi_document_cache,
    weigh=lambda cached: 256 + len(get_source_text(cached.document)) * len(cached.operations),
    name="documents",
)


class Refusal(msgspec.Struct, frozen=True):
    """The errors of a document that was refused, under some settings, and their size in memory with the document."""

    errors: list[GraphQLError]
    settings: object
    size: int


# So that a document that is refused costs little when it is sent again. The key has the name of its operation.
REFUSALS: BoundedCache[Refusal] = BoundedCache(
    conf.environment.contentapi_document_cache, weigh=lambda refusal: refusal.size, name="refusals"
)


def get_operation(
    schema: GraphQLSchema, text: str, name: str | None, *, before_work: Callable[[], None] = lambda: None
) -> Operation:
    """Return the operation of a request, within its limits and prepared for execution.

    Calls `before_work` unless the operation or its refusal is cached, and raises what it raises. Raises
    `DocumentRejected`, and `Malformed` for a subscription.
    """
    environment = conf.environment
    cached = DOCUMENTS.get((schema, text))
    operation = cached.find_operation(name) if cached else None
    if operation is None or operation.checked_against is not environment:
        if find_refusal(schema, text, name) is None:
            before_work()
        operation = get_document(schema, text, name).require_operation(name)
        if operation.node.operation is OperationType.SUBSCRIPTION:
            raise Malformed(describe_stream_server())
        operation.checked_against = environment
    return operation


def describe_stream_server() -> str:
    """Return where streams are, for a client that asks the API for one."""
    place = conf.environment.contentapi_stream_url or "the server of CONTENTAPI_STREAM_URL"
    return f"Streams and subscriptions are sent by {place}, which this request did not reach."


def get_document(schema: GraphQLSchema, text: str, operation_name: str | None) -> CachedDocument:
    """Return the document of a request from the cache, or parse and validate it. Raises `DocumentRejected`."""
    known = find_refusal(schema, text, operation_name)
    if known is not None:
        raise DocumentRejected(known)
    try:
        return prepare_document(schema, text, operation_name)
    except DocumentRejected as rejection:
        errors = [forget_document(error) for error in rejection.errors]
        size = 1000 + 2 * (len(text) + len(operation_name or "") + sum(1000 + len(error.message) for error in errors))
        REFUSALS.put((schema, text, operation_name), Refusal(errors, conf.environment, size))
        raise


def find_refusal(schema: GraphQLSchema, text: str, operation_name: str | None) -> list[GraphQLError] | None:
    """Return why this document was refused before, under the present settings."""
    refusal = REFUSALS.get((schema, text, operation_name))
    return None if refusal is None or refusal.settings is not conf.environment else refusal.errors


def forget_document(error: GraphQLError) -> GraphQLError:
    """Return the error without nodes of its document, which would keep all of it in memory."""
    kept = GraphQLError(error.message, original_error=find_cause(error).with_traceback(None))  # type: ignore[arg-type]
    kept.locations = error.locations
    return kept


def prepare_document(schema: GraphQLSchema, text: str, operation_name: str | None) -> CachedDocument:
    """Return a document that is within the limits. Raises `DocumentRejected`."""
    cached = DOCUMENTS.get((schema, text))
    try:
        with trace("parse"):
            document = cached.document if cached else parse_within_limits(text)
            sizes = cached.sizes if cached else measure_operations(document)
            require_within_limits(sizes, operation_name)
    except LimitExceeded as error:
        raise DocumentRejected([GraphQLError(error.message, original_error=error)]) from None
    except GraphQLError as error:
        raise DocumentRejected([error]) from None
    with trace("validate"):
        return cached or validate_and_cache_document(schema, document, sizes)


def parse_within_limits(text: str) -> DocumentNode:
    """Parse a document. Raises `GraphQLSyntaxError` or `LimitExceeded`."""
    require_within_limit("length in bytes", len(text.encode()), "contentapi_max_query_length")
    most = conf.environment.contentapi_max_tokens
    try:
        document = parse(text, max_lexical_tokens=most, max_comments=most, allow_empty_selection_sets=False)
    except GraphQLSyntaxError as error:
        raise convert_parser_error(error, most) from None
    unlink_tokens(document)
    return document


def unlink_tokens(document: DocumentNode) -> None:
    """Remove the references of the parser's tokens to each other, so that they are freed with their nodes.

    Otherwise only the garbage collector frees them, and all threads wait for it: for 0.1 s after some long documents.
    """
    token = document.loc.start_token if document.loc else None
    while token is not None:
        following, token.prev, token.next = token.next, None, None
        token = following


def convert_parser_error(error: GraphQLSyntaxError, most: int) -> Exception:
    """Return `LimitExceeded` for a document at which the parser gave up, otherwise the error. Its message says why."""
    for what in ("tokens", "comments"):
        if f"more than {most} {what}." in error.message:
            return build_limit_error(f"number of {what}", f"{most + 1} or more", most, "contentapi_max_tokens")
    return build_nesting_error() if "nested too deeply" in error.message else error


def validate_and_cache_document(schema: GraphQLSchema, document: DocumentNode, sizes: Sizes) -> CachedDocument:
    """Validate a document, prepare its operations and cache it. Raises `DocumentRejected`."""
    errors = find_validation_errors(schema, document)
    if errors:
        raise DocumentRejected(errors)
    drop_token_links(document)
    costs = measure_costs(schema, document)
    fragments = DocumentFragments(document)
    operations = {
        get_operation_name(node): Operation(schema, fragments, node, costs[get_operation_name(node)])
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode)
    }
    only = next(iter(operations.values())) if len(operations) == 1 else None
    cached = CachedDocument(document, sizes, operations, only)
    DOCUMENTS.put((schema, get_source_text(document)), cached)
    return cached


def get_source_text(document: DocumentNode) -> str:
    return document.loc.source.body if document.loc else ""
