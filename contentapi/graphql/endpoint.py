"""Handle requests to the GraphQL endpoint: a POST with a JSON body, or a GET of a query.

Ariadne's HTTP layer is not used: it shows the texts of exceptions to clients, accepts form bodies, and has neither
content negotiation nor the status rule of docs/decisions/0001-status-rule-and-294.md. `graphql_sync` is
not used, because it parses and validates the document of every request; here prepared operations are cached.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from django.http import HttpRequest, HttpResponse
from graphql import ExecutionResult, GraphQLError, GraphQLSchema, OperationType

from contentapi.auth.authentication import IDENTIFYING, authenticate_request
from contentapi.core import policy
from contentapi.core.errors import PARTIAL_SUCCESS, ApiError, Malformed, MethodNotAllowed, NotAcceptable
from contentapi.core.replicas import read, read_credential, record_write
from contentapi.graphql.costs import COST_PER_CHARGE
from contentapi.graphql.documents import DocumentRejected, describe_stream_server, get_operation
from contentapi.graphql.errors import build_error_entries, build_error_entry
from contentapi.graphql.execution.introspection import Introspection
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.explorer.page import is_explorer_requested, render_page
from contentapi.graphql.persisted_documents import PersistedDocuments
from contentapi.graphql.requests import BatchRefused, GraphQLRequest, charge_objects, read_body, read_query_string
from contentapi.graphql.root_fields import RequestContext
from contentapi.graphql.transactions import OneTransaction
from contentapi.graphql.trusted_documents import TrustedDocuments, load_trusted_documents
from contentapi.http.body import JSON
from contentapi.http.conditional import etag_matches
from contentapi.http.hosts import add_resource_metadata
from contentapi.http.idempotency import HEADER, hash_request
from contentapi.http.negotiation import select_media_type
from contentapi.http.response import NO_CONTENT, NOT_MODIFIED, OK, Response, finalize_response, keep_preview_private
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.account import Account

GRAPHQL_RESPONSE = "application/graphql-response+json"
EVENT_STREAM = "text/event-stream"
MEDIA_TYPES = (JSON, GRAPHQL_RESPONSE)  # of responses to queries
ALLOWED_METHODS = ("GET", "HEAD", "POST", "OPTIONS")  # in the order of Allow
READS = ("GET", "HEAD")
VARY = ", ".join(["Accept", *IDENTIFYING])
SHORT = 4  # digits of a Content-Length: less than 10,000 bytes


class GraphQLEndpoint:
    """The endpoint of a schema: a Django view, and `handle` for a server that has no Django request."""

    csrf_exempt = True  # cookies are not a credential of the API
    handles_rate_limit = True

    def __init__(self, schema: GraphQLSchema, documents: Path) -> None:
        """`documents` is the folder of trusted documents."""
        self.schema = schema
        self.folder = documents

    @cached_property
    def documents(self) -> PersistedDocuments:
        return PersistedDocuments(self.load_documents())

    def load_documents(self) -> TrustedDocuments:
        """Return the trusted documents. Raises `ManifestError`."""
        return load_trusted_documents(self.schema, self.folder)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.handle(request.META)
        django_response = HttpResponse(response.body, status=response.status, headers=response.headers)
        if "Content-Type" not in response.headers:
            del django_response["Content-Type"]
        return django_response

    def handle(self, environ: Mapping[str, Any]) -> Response:
        """Return the response to the request of a WSGI environ. Every error becomes a response.

        Usually the base charge and the cost are charged together. If the body is long or the document is not cached,
        the base charge is made first, before the expensive work. A rate-limit error replaces any other error.
        """
        account = Account(environ)
        media_type = negotiate_media_type(environ)
        is_post = environ["REQUEST_METHOD"] == "POST"
        try:
            actor = authenticate_request(environ)
            account.set_actor(actor)
            if not is_post or not 1 <= len(environ.get("CONTENT_LENGTH", "")) <= SHORT:
                account.charge_request()
            if not is_post and (response := respond_without_query(environ)) is not None:
                return Response(response.status, response.body, {**account.headers, **response.headers})
            if media_type is None:
                refuse_media_type(environ)
            request = read_body(environ) if is_post else read_query_string(environ)
            key = environ.get(HEADER)
            result = self.execute(request, {"actor": actor}, account, key, may_write=is_post)
        except Exception as exception:  # noqa: BLE001 - every error, ours included, gets a response of the same form
            kind = account.charge_failure(exception)
            content = msgspec.json.encode({"errors": [build_error_entry(kind)]})
            if isinstance(exception, BatchRefused):
                content = b"[" + b",".join([content] * exception.length) + b"]"
            result = Response(kind.status, content, kind.headers)
        headers = {**account.headers, **add_resource_metadata(result.headers, environ)}
        response = build_response(result.body, result.status, headers, media_type or JSON)
        response = response if is_post else add_cache_headers(response, environ)
        return keep_preview_private(response, environ, VARY)

    def execute(
        self, request: GraphQLRequest, context: RequestContext, account: Account, key: str | None, *, may_write: bool
    ) -> Response:
        """Execute a request, with its Idempotency-Key if it has one. Returns its own part of the response."""
        if not isinstance(request.query, str):
            account.charge_request()  # before a lookup in Redis
        text, digest = self.documents.find_text(request)
        name = request.operation_name or None
        try:
            operation = get_operation(self.schema, text, name, before_work=account.charge_and_wait)
        except DocumentRejected as rejection:
            account.charge_request()
            return report_errors(rejection.errors)
        if not may_write and operation.node.operation is OperationType.MUTATION:
            raise MethodNotAllowed("GET", ALLOWED_METHODS, "Send a mutation by POST.")
        if digest is not None:
            self.documents.remember(digest, text)
        if name:
            current_record.get().operation_name = name
        return execute_operation(operation, request, context, account, key)


def respond_without_query(environ: Mapping[str, Any]) -> Response | None:
    """Return the explorer for a browser, or the response to OPTIONS; None for a GET or HEAD of a query.

    Raises `MethodNotAllowed` for other methods than POST.
    """
    method = environ["REQUEST_METHOD"]
    if is_explorer_requested(environ, MEDIA_TYPES):
        headers, page = render_page()
        return Response(OK, page, headers)
    if method == "OPTIONS":
        return Response(NO_CONTENT, headers={"Allow": ", ".join(ALLOWED_METHODS)})
    if method not in READS:
        raise MethodNotAllowed(method, ALLOWED_METHODS)
    return None


def refuse_media_type(environ: Mapping[str, Any]) -> NoReturn:
    """Raise `Malformed` if Accept asks for events, or `NotAcceptable`: it allows no media type of a response."""
    if select_media_type(environ.get("HTTP_ACCEPT", ""), [EVENT_STREAM]) is not None:
        raise Malformed(f"{describe_stream_server()} For queries and mutations, accept {JSON}.")
    raise NotAcceptable(f"The response is {JSON} or {GRAPHQL_RESPONSE}; Accept allows neither.")


def negotiate_media_type(environ: Mapping[str, Any]) -> str | None:
    accept = environ.get("HTTP_ACCEPT", "")
    return JSON if accept in ("", JSON, "*/*") else select_media_type(accept, MEDIA_TYPES)


def execute_operation(
    operation: Operation, request: GraphQLRequest, context: RequestContext, account: Account, key: str | None
) -> Response:
    """Charge and execute an operation. `key` is its Idempotency-Key, which a query ignores."""
    variables = request.variables or {}
    cost, introspection = charge_cost(operation, variables, account)
    extensions = {"cost": cost} if request.extensions and request.extensions.get("cost") is True else None
    actor = context["actor"]
    if operation.cost.writes:
        policy.require_no_preview(actor)
        actor = actor.through("GraphQL")
        context = {"actor": actor}
    execute = partial(operation.execute, variables, context, introspection)
    if actor.preview is not None:  # from the primary: a preview shows what has just been saved
        return build_result_response(read_credential(execute)[0], extensions)
    if not operation.cost.writes:
        return build_result_response(read(actor.user_id, execute), extensions)
    try:
        if key is None and not operation.is_atomic:
            return build_result_response(execute(), extensions)
        respond = partial(build_result_response, extensions=extensions)
        digest = hash_request([operation.digest.hex(), variables])
        return OneTransaction(execute, respond, is_atomic=operation.is_atomic).run(actor, key, digest)
    finally:
        record_write(actor.user_id)


def charge_cost(
    operation: Operation, variables: Mapping[str, Any], account: Account
) -> tuple[int, Introspection | None]:
    """Charge the cost of an operation, and enter the expensive lane if it is high. Returns it, with what it counted."""
    current_record.get().operation = operation.cost.label
    cost, introspection = operation.cost.evaluate(variables), None
    if operation.cost.has_introspection:
        introspection = operation.introspect(variables, before_work=account.charge_and_wait)
        cost += introspection.cost if introspection else 0
        if introspection and introspection.refusal:
            account.charge_operation(1 + cost // COST_PER_CHARGE, writes=0)
            raise introspection.refusal.with_traceback(None)
    charge_objects(cost, account, writes=operation.cost.writes)
    return cost, introspection


def build_result_response(result: ExecutionResult, extensions: dict[str, Any] | None) -> Response:
    """Return the status, the body and the headers of the response to an operation that was executed."""
    members: dict[str, Any] = {"data": result.data}
    if extensions:
        members["extensions"] = extensions
    if not result.errors:
        return Response(OK, msgspec.json.encode(members))
    entries, worst = build_error_entries(result.errors)
    members = {"errors": entries, **members}  # first, as GraphQL's specification recommends
    if any(error.path is None for error in result.errors):  # outside of the execution
        del members["data"]
    if any(value is not None for value in (result.data or {}).values()):
        return Response(PARTIAL_SUCCESS, msgspec.json.encode(members))
    return Response(worst.status, msgspec.json.encode(members), worst.headers)


def report_errors(errors: Iterable[GraphQLError]) -> Response:
    """Return the status, the body and the headers of a response without data."""
    entries, worst = build_error_entries(errors)
    return Response(worst.status, msgspec.json.encode({"errors": entries}), worst.headers)


def respond_with_error(environ: Mapping[str, Any], error: ApiError) -> Response:
    """Return the error response to a request whose body is not read."""
    media_type = negotiate_media_type(environ) or JSON
    content = msgspec.json.encode({"errors": [build_error_entry(error)]})
    response = build_response(content, error.status, dict(error.headers), media_type)
    return response if environ["REQUEST_METHOD"] == "POST" else add_cache_headers(response, environ)


def build_response(content: bytes, status: int, headers: dict[str, str], media_type: str) -> Response:
    headers["Content-Type"] = f"{media_type}; charset=utf-8"
    headers["Content-Length"] = str(len(content))
    headers["Cache-Control"] = "no-store"
    return Response(status, content, headers)


def add_cache_headers(response: Response, environ: Mapping[str, Any]) -> Response:
    """Return the response to a GET or HEAD, with what caches need: only that to an anonymous caller may be stored."""
    headers = {**response.headers, "Vary": VARY}
    if response.status == OK and not any(name in environ for name in IDENTIFYING.values()):
        digest = blake2b(response.body, digest_size=16, key=headers["Content-Type"].encode()).hexdigest()
        headers |= {"ETag": f'"{digest}"', "Cache-Control": "no-cache"}
        if etag_matches(headers["ETag"], environ.get("HTTP_IF_NONE_MATCH", "")):
            response = Response(NOT_MODIFIED, response.body, response.headers)
    return finalize_response(response, headers, environ["REQUEST_METHOD"])
