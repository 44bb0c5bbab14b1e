"""Handle requests to the GraphQL endpoint: one POST request with one JSON body, one response.

Ariadne's HTTP layer is not used: it shows the texts of exceptions to clients, accepts form bodies, and has neither
content negotiation nor the status rule of docs/decisions/0001-status-rule-and-294.md. `graphql_sync` is
not used, because it parses and validates the document of every request; here prepared operations are cached.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse
from graphql import GraphQLSchema

from contentapi.auth.authentication import authenticate_request
from contentapi.conf import conf
from contentapi.core.errors import PARTIAL_SUCCESS, ApiError, MethodNotAllowed, NotAcceptable, UnsupportedMediaType
from contentapi.core.text import require_storable
from contentapi.db.postgresql.replicas import read, record_write
from contentapi.db.postgresql.slots import enter_expensive_lane, enter_preparation_lane
from contentapi.graphql.context import RequestContext
from contentapi.graphql.costs import COST_PER_CHARGE, require_cost_within_limit
from contentapi.graphql.documents import DocumentRejected, get_operation
from contentapi.graphql.errors import ErrorReport, build_error_entry
from contentapi.graphql.explorer.page import is_explorer_requested, render_page
from contentapi.graphql.limits import build_limit_error
from contentapi.http.body import JSON, decode_json, has_unicode_escapes, is_json, read_request_body
from contentapi.http.negotiation import select_media_type
from contentapi.http.response import Response
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.account import Account

T = TypeVar("T")

GRAPHQL_RESPONSE = "application/graphql-response+json"
EXPENSIVE_SHARE = 10  # an operation that costs more than a tenth of CONTENTAPI_MAX_COST is expensive
SHORT = 4  # digits of a Content-Length: less than 10,000 bytes


class GraphQLBody(msgspec.Struct, rename="camel"):
    """The members of a request's body. All others are ignored."""

    query: str
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


BODY = msgspec.json.Decoder(GraphQLBody)


class GraphQLEndpoint:
    """The endpoint of a schema: a Django view, and `handle` for a server that has no Django request."""

    csrf_exempt = True  # cookies are not a credential of the API
    handles_rate_limit = True

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.handle(request.META)
        return HttpResponse(response.body, status=response.status, headers=response.headers)

    def handle(self, environ: Mapping[str, Any]) -> Response:
        """Return the response to the request of a WSGI environ. Every error becomes a response.

        Usually the base charge and the cost are charged together. If the body is long or the document is not cached,
        the base charge is made first, before the expensive work. A rate-limit error replaces any other error.
        """
        account = Account(environ)
        media_type = negotiate_media_type(environ)
        try:
            actor = authenticate_request(environ)
            account.set_actor(actor)
            if environ["REQUEST_METHOD"] != "POST":
                account.charge_request()
                page_headers, page = render_explorer(environ)
                return Response(200, page, {**account.headers, **page_headers})
            require_acceptable(media_type)
            if not 1 <= len(environ.get("CONTENT_LENGTH", "")) <= SHORT:
                account.charge_request()
            members, status, headers = execute_request(self.schema, read_body(environ), {"actor": actor}, account)
        except Exception as exception:  # noqa: BLE001 - every error, ours included, gets a response of the same form
            kind = account.charge_failure(exception)
            members, status, headers = {"errors": [build_error_entry(kind)]}, kind.status, kind.headers
        return build_response(members, status, {**account.headers, **headers}, media_type or JSON)


def render_explorer(environ: Mapping[str, Any]) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the page for browsers. Raises `MethodNotAllowed` for all other requests."""
    if is_explorer_requested(environ, (JSON, GRAPHQL_RESPONSE)):
        return render_page()
    raise MethodNotAllowed(environ["REQUEST_METHOD"], ["POST"])


def require_acceptable(media_type: str | None) -> None:
    if media_type is None:
        raise NotAcceptable(f"The response is {JSON} or {GRAPHQL_RESPONSE}; Accept allows neither.")


def negotiate_media_type(environ: Mapping[str, Any]) -> str | None:
    accept = environ.get("HTTP_ACCEPT", "")
    return JSON if accept in ("", JSON, "*/*") else select_media_type(accept, [JSON, GRAPHQL_RESPONSE])


def read_body(environ: Mapping[str, Any]) -> GraphQLBody:
    """Decode the body. Raises `UnsupportedMediaType`, `TooLarge`, `Malformed` or `LimitExceeded`."""
    if not is_json(environ.get("CONTENT_TYPE", "")):
        raise UnsupportedMediaType(f"Send the body as {JSON} in UTF-8.")
    content = read_request_body(environ)
    body, _ = decode_json(content, BODY)
    limit = conf.environment.contentapi_max_values
    if len(content) < 2 * limit and not has_unicode_escapes(content):
        return body  # so short a body cannot have more values: each takes two bytes or more
    values = require_storable(body.variables)
    if values > limit:
        raise build_limit_error("number of values in variables", values, limit, "contentapi_max_values")
    return body


def execute_request(
    schema: GraphQLSchema, body: GraphQLBody, context: RequestContext, account: Account
) -> tuple[dict[str, Any], int, Mapping[str, str]]:
    """Execute a request. Returns the members of the response's body, its status and its headers."""
    before_work = partial(charge_and_wait_for_preparation, account, len(body.query))
    try:
        operation = get_operation(schema, body.query, body.operation_name, before_work=before_work)
    except DocumentRejected as rejection:
        report = ErrorReport()
        errors = [report.add(error) for error in rejection.errors]
        return {"errors": errors}, report.worst.status, report.worst.headers
    record = current_record.get()
    record.operation = operation.label
    if body.operation_name:
        record.operation_name = body.operation_name
    variables = body.variables or {}
    cost, introspection = operation.cost.evaluate(variables), None
    if operation.cost.has_introspection:
        introspection = operation.introspect(variables, before_work=before_work)
        cost += introspection.objects if introspection else 0
    require_cost_within_limit(cost)
    account.charge_operation(1 + cost // COST_PER_CHARGE, writes=operation.cost.writes)
    record.cost = cost
    if operation.cost.writes:
        context = {"actor": context["actor"].through("GraphQL")}
    if cost > conf.environment.contentapi_max_cost // EXPENSIVE_SHARE:
        enter_expensive_lane()
    is_hidden = conf.environment.contentapi_introspection == "off"
    execute = partial(operation.execute, variables, context, hide_suggestions=is_hidden, introspection=introspection)
    result = execute_on_server(execute, context["actor"].user_id, writes=operation.cost.writes > 0)
    members: dict[str, Any] = {"data": result.data}
    if (body.extensions or {}).get("cost") is True:
        members["extensions"] = {"cost": cost}
    if not result.errors:
        return members, 200, {}
    report = ErrorReport()
    members["errors"] = [report.add(error) for error in result.errors]
    if report.outside_execution:
        del members["data"]
    if any(value is not None for value in (result.data or {}).values()):
        return members, PARTIAL_SUCCESS, {}
    return members, report.worst.status, report.worst.headers


def execute_on_server(execute: Callable[[], T], user_id: int | None, *, writes: bool) -> T:
    """Execute an operation for a user: a query on a replica if one is usable, a mutation on the primary."""
    if not writes:
        return read(user_id, execute)
    try:
        return execute()
    finally:
        record_write(user_id)


def charge_and_wait_for_preparation(account: Account, length: int) -> None:
    """Charge a request before its document is parsed or its introspection fields are counted."""
    account.charge_request()
    if account.is_metered:  # the fast path's sample request runs at start-up or in another request: it must not wait
        enter_preparation_lane(length)


def respond_with_error(environ: Mapping[str, Any], error: ApiError) -> Response:
    """Return the error response to a request whose body is not read."""
    media_type = negotiate_media_type(environ) or JSON
    return build_response({"errors": [build_error_entry(error)]}, error.status, dict(error.headers), media_type)


def build_response(members: dict[str, Any], status: int, headers: dict[str, str], media_type: str) -> Response:
    if "errors" in members:  # GraphQL's specification recommends that they come first
        members = {"errors": members["errors"], **members}
    body = msgspec.json.encode(members)
    headers["Content-Type"] = f"{media_type}; charset=utf-8"
    headers["Content-Length"] = str(len(body))
    return Response(status, body, headers)
