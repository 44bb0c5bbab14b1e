"""The endpoint: one POST, one JSON body, one answer (section 1 of the decisions).

Ariadne's own HTTP layer is not used: it shows exception texts to clients, accepts form bodies and knows
neither content negotiation nor the status rule. A request is its WSGI environ, so that `contentapi.wsgi` can
answer one without Django's request and response around it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from ariadne import graphql_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from graphql import DocumentNode

from contentapi.admission import admitted
from contentapi.bodies import JSON, decode, is_json, read_bytes
from contentapi.errors import MethodNotAllowed, NotAcceptable, UnsupportedMediaType
from contentapi.graphql import explorer
from contentapi.graphql.costs import COST_OF_ONE_MORE, require_affordable
from contentapi.graphql.documents import costs_of, parse_document, validate_document
from contentapi.graphql.errors import PARTIAL_SUCCESS, ErrorReport, entry, logged_kind
from contentapi.graphql.limits import exceeded
from contentapi.graphql.projections import ProjectingExecutor
from contentapi.graphql.schema import SCHEMA
from contentapi.identity import RequestContext
from contentapi.negotiation import preferred_type
from contentapi.rates import Account
from contentapi.requests import Reply, charges_itself
from contentapi.text import require_storable

GRAPHQL_RESPONSE = "application/graphql-response+json"


class GraphQLBody(msgspec.Struct, rename="camel"):
    """The members of a request. Others beside these are ignored."""

    query: str
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


BODY = msgspec.json.Decoder(GraphQLBody)


@charges_itself
@csrf_exempt  # cookies are no credential here
def graphql(request: HttpRequest) -> HttpResponse:
    """Answer one GraphQL request."""
    reply = respond(request.META)
    return HttpResponse(reply.body, status=reply.status, headers=reply.headers)


def respond(environ: Mapping[str, Any]) -> Reply:
    """Answer the GraphQL request of a WSGI environ, also when something goes wrong."""
    account = Account(environ)
    media_type = preferred_media_type(environ)
    try:
        actor = admitted(environ, account)
        if explorer.is_asked_for(environ, (JSON, GRAPHQL_RESPONSE)):
            own, page = explorer.page()
            return Reply(200, {**account.headers, **own}, page)
        require_post(environ)
        require_acceptable(media_type)
        members, status, headers = execute(read_body(environ), {"actor": actor}, account)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
        kind = logged_kind(exception)
        members, status, headers = {"errors": [entry(kind)]}, kind.status, kind.headers
    return answer(members, status, {**account.headers, **headers}, media_type or JSON)


def require_post(environ: Mapping[str, Any]) -> None:
    if environ["REQUEST_METHOD"] != "POST":
        raise MethodNotAllowed(environ["REQUEST_METHOD"], ["POST"])


def require_acceptable(media_type: str | None) -> None:
    if media_type is None:
        raise NotAcceptable(f"An answer is {JSON} or {GRAPHQL_RESPONSE}; Accept allows neither.")


def preferred_media_type(environ: Mapping[str, Any]) -> str | None:
    accept = environ.get("HTTP_ACCEPT", "")
    return JSON if accept in ("", JSON, "*/*") else preferred_type(accept, [JSON, GRAPHQL_RESPONSE])


def read_body(environ: Mapping[str, Any]) -> GraphQLBody:
    """Decode the body. Raises `UnsupportedMediaType`, `TooLarge`, `Malformed` or `LimitExceeded`."""
    if not is_json(environ.get("CONTENT_TYPE", "")):
        raise UnsupportedMediaType(f"Send the body as {JSON} in UTF-8.")
    body, _ = decode(read_bytes(environ), BODY)
    values, most = require_storable(body.variables), settings.ENVIRONMENT.contentapi_max_values
    if values > most:
        raise exceeded("number of values in variables", values, most, "contentapi_max_values")
    return body


class Toll:
    """Charges for an operation before it is executed. Ariadne asks for its root value then, which there is none of."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.cost: int | None = None

    def __call__(self, _: Any, name: str | None, variables: dict[str, Any] | None, document: DocumentNode) -> None:
        operation = costs_of(SCHEMA, document).chosen(name)
        self.cost = operation.value(variables)
        require_affordable(self.cost)
        self.account.charge(1 + self.cost // COST_OF_ONE_MORE, is_write=operation.is_write)


def execute(
    body: GraphQLBody, context: RequestContext, account: Account
) -> tuple[dict[str, Any], int, Mapping[str, str]]:
    """Execute a request. Returns the members of the answer, its status and its headers."""
    toll = Toll(account)
    report = ErrorReport()
    is_shown = settings.ENVIRONMENT.contentapi_introspection == "on"
    # A blank stands for the empty document, which Ariadne takes for none at all.
    _, result = graphql_sync(
        SCHEMA,
        {"query": body.query or " ", "variables": body.variables, "operationName": body.operation_name},
        context_value=context,
        root_value=toll,
        query_parser=parse_document,
        query_validator=validate_document,
        introspection=is_shown,
        hide_suggestions=not is_shown,
        error_formatter=report.add,
        execution_context_class=ProjectingExecutor,
    )
    if toll.cost is not None and (body.extensions or {}).get("cost") is True:
        result["extensions"] = {"cost": toll.cost}
    if not report.kinds:
        return result, 200, {}
    if report.outside_execution:
        result.pop("data", None)
    if any(value is not None for value in (result.get("data") or {}).values()):
        return result, PARTIAL_SUCCESS, {}
    return result, report.worst.status, report.worst.headers


def answer(members: dict[str, Any], status: int, headers: Mapping[str, str], media_type: str) -> Reply:
    names = ("errors", "data", "extensions")  # errors first, as GraphQL advises
    ordered = {name: members[name] for name in names if name in members}
    body = msgspec.json.encode(ordered)
    own = {"Content-Type": f"{media_type}; charset=utf-8", "Content-Length": str(len(body))}
    return Reply(status, {**headers, **own}, body)
