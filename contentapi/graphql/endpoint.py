"""The endpoint: one POST, one JSON body, one answer (section 1 of the decisions).

Ariadne's own HTTP layer is not used: it shows exception texts to clients, accepts form bodies and knows neither content
negotiation nor the status rule. Nor is `graphql_sync`, which makes everything anew for each request: what is known of a
document, its operations ready to be executed among it, is kept (`documents`, `operations`). A request is its WSGI
environ, so that `contentapi.wsgi` can answer one without Django's request and response around it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.auth.authentication import authenticate_request
from contentapi.conf import conf
from contentapi.core.errors import (
    PARTIAL_SUCCESS,
    ApiError,
    MethodNotAllowed,
    NotAcceptable,
    UnsupportedMediaType,
)
from contentapi.core.text import require_storable
from contentapi.db.postgresql.slots import enter_expensive_lane, enter_preparation_lane
from contentapi.graphql.context import RequestContext
from contentapi.graphql.costs import COST_PER_CHARGE, require_cost_within_limit
from contentapi.graphql.documents import DocumentRejected, get_operation
from contentapi.graphql.errors import ErrorReport, error_entry
from contentapi.graphql.explorer.page import is_explorer_requested, render_page
from contentapi.graphql.limits import limit_exceeded
from contentapi.http.body import JSON, decode_json, has_unicode_escapes, is_json, read_bytes
from contentapi.http.negotiation import select_media_type
from contentapi.http.response import Response
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import handles_rate_limit
from contentapi.schema import SCHEMA

GRAPHQL_RESPONSE = "application/graphql-response+json"
EXPENSIVE_SHARE = 10  # an operation over this part of CONTENTAPI_MAX_COST is expensive
SHORT = 4  # digits of a Content-Length: less than 10,000 bytes


class GraphQLBody(msgspec.Struct, rename="camel"):
    """The members of a request. Others beside these are ignored."""

    query: str
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


BODY = msgspec.json.Decoder(GraphQLBody)


@handles_rate_limit
@csrf_exempt  # cookies are no credential here
def graphql(request: HttpRequest) -> HttpResponse:
    """Handle a GraphQL request that Django's middleware has passed on."""
    status, body, headers = handle(request.META)
    return HttpResponse(body, status=status, headers=headers)


def handle(environ: Mapping[str, Any]) -> Response:
    """Answer the GraphQL request of a WSGI environ, also when something goes wrong.

    Asking is charged together with what is asked for; before that, where there is work to be done for it: a long body,
    or a document that is not known. Who has nothing left is told so before all else.
    """
    account = Account(environ)
    media_type = negotiate_media_type(environ)
    try:
        actor = authenticate_request(environ)
        account.set_actor(actor)
        if environ["REQUEST_METHOD"] != "POST":
            account.charge_request()
            own, page = handle_read(environ)
            return Response(200, page, {**account.headers, **own})
        require_acceptable(media_type)
        if not 1 <= len(environ.get("CONTENT_LENGTH", "")) <= SHORT:
            account.charge_request()
        members, status, headers = execute(read_body(environ), {"actor": actor}, account)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
        kind = account.charge_failure(exception)
        members, status, headers = {"errors": [error_entry(kind)]}, kind.status, kind.headers
    return build_response(members, status, {**account.headers, **headers}, media_type or JSON)


def handle_read(environ: Mapping[str, Any]) -> tuple[dict[str, str], bytes]:
    """Return what a browser is shown: headers and a page. Raises `MethodNotAllowed`."""
    if is_explorer_requested(environ, (JSON, GRAPHQL_RESPONSE)):
        return render_page()
    raise MethodNotAllowed(environ["REQUEST_METHOD"], ["POST"])


def require_acceptable(media_type: str | None) -> None:
    if media_type is None:
        raise NotAcceptable(f"An answer is {JSON} or {GRAPHQL_RESPONSE}; Accept allows neither.")


def negotiate_media_type(environ: Mapping[str, Any]) -> str | None:
    accept = environ.get("HTTP_ACCEPT", "")
    return JSON if accept in ("", JSON, "*/*") else select_media_type(accept, [JSON, GRAPHQL_RESPONSE])


def read_body(environ: Mapping[str, Any]) -> GraphQLBody:
    """Decode the body. Raises `UnsupportedMediaType`, `TooLarge`, `Malformed` or `LimitExceeded`."""
    if not is_json(environ.get("CONTENT_TYPE", "")):
        raise UnsupportedMediaType(f"Send the body as {JSON} in UTF-8.")
    content = read_bytes(environ)
    body, _ = decode_json(content, BODY)
    most = conf.environment.contentapi_max_values
    if len(content) < 2 * most and not has_unicode_escapes(content):
        return body  # each value takes two bytes or more
    values = require_storable(body.variables)
    if values > most:
        raise limit_exceeded("number of values in variables", values, most, "contentapi_max_values")
    return body


def execute(
    body: GraphQLBody, context: RequestContext, account: Account
) -> tuple[dict[str, Any], int, Mapping[str, str]]:
    """Execute a request. Returns the members of the answer, its status and its headers."""
    before_work = partial(begin_preparation, account, len(body.query))
    try:
        operation = get_operation(SCHEMA, body.query, body.operation_name, before_work=before_work)
    except DocumentRejected as refusal:
        report = ErrorReport()
        errors = [report.add(error) for error in refusal.errors]
        return {"errors": errors}, report.worst.status, report.worst.headers
    variables = body.variables or {}
    cost, introspection = operation.cost.value(variables), None
    if operation.cost.has_introspection:
        introspection = operation.introspect(variables, before_work=before_work)
        cost += introspection.objects if introspection else 0
    require_cost_within_limit(cost)
    account.charge_operation(1 + cost // COST_PER_CHARGE, writes=operation.cost.writes)
    if cost > conf.environment.contentapi_max_cost // EXPENSIVE_SHARE:
        enter_expensive_lane()
    is_hidden = conf.environment.contentapi_introspection == "off"
    result = operation.execute(variables, context, hide_suggestions=is_hidden, introspection=introspection)
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


def begin_preparation(account: Account, length: int) -> None:
    """Charge a request whose document must be parsed, or its introspection counted, before it takes the time."""
    account.charge_request()
    if account.is_metered:  # the server's own request, which learns headers, is part of another request
        enter_preparation_lane(length)


def respond_with_error(environ: Mapping[str, Any], error: ApiError) -> Response:
    """Return the response to a request that is refused before it is read. The caller has recorded the error."""
    media_type = negotiate_media_type(environ) or JSON
    return build_response({"errors": [error_entry(error)]}, error.status, dict(error.headers), media_type)


def build_response(members: dict[str, Any], status: int, headers: dict[str, str], media_type: str) -> Response:
    if "errors" in members:  # they come first, as GraphQL advises
        members = {"errors": members["errors"], **members}
    body = msgspec.json.encode(members)
    headers["Content-Type"] = f"{media_type}; charset=utf-8"
    headers["Content-Length"] = str(len(body))
    return Response(status, body, headers)
