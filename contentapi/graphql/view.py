"""The endpoint: one POST, one JSON body, one answer (section 1 of the decisions).

Ariadne's own HTTP layer is not used: it shows exception texts to clients, accepts form bodies and knows
neither content negotiation nor the status rule.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from ariadne import graphql_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from contentapi.errors import (
    Malformed,
    MethodNotAllowed,
    NotAcceptable,
    TooLarge,
    UnsupportedMediaType,
)
from contentapi.graphql.documents import parse_document, validate_document
from contentapi.graphql.errors import PARTIAL_SUCCESS, ErrorReport, entry, logged_kind
from contentapi.graphql.projections import ProjectingExecutor
from contentapi.graphql.schema import SCHEMA
from contentapi.identity import RequestContext
from contentapi.negotiation import preferred_type
from contentapi.text import require_storable
from users.authentication import authenticate

JSON = "application/json"
GRAPHQL_RESPONSE = "application/graphql-response+json"


class GraphQLBody(msgspec.Struct, rename="camel"):
    """The members of a request. Others beside these are ignored."""

    query: str
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


BODY = msgspec.json.Decoder(GraphQLBody)


@csrf_exempt  # cookies are no credential here
def graphql(request: HttpRequest) -> HttpResponse:
    """Answer one GraphQL request."""
    media_type = JSON
    try:
        require_post(request)
        media_type = acceptable_type(request)
        body = read_body(request)
        return answer(*execute(body, {"actor": authenticate(request.headers)}), media_type)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: every failure has the same shape
        kind = logged_kind(exception)
        return answer({"errors": [entry(kind)]}, kind.status, kind.headers, media_type)


def require_post(request: HttpRequest) -> None:
    if request.method != "POST":
        raise MethodNotAllowed(str(request.method), ["POST"])


def acceptable_type(request: HttpRequest) -> str:
    preferred = preferred_type(request.headers.get("Accept", ""), [JSON, GRAPHQL_RESPONSE])
    if preferred is None:
        raise NotAcceptable(f"An answer is {JSON} or {GRAPHQL_RESPONSE}; Accept allows neither.")
    return preferred


def read_body(request: HttpRequest) -> GraphQLBody:
    """Decode the body. Raises `UnsupportedMediaType`, `TooLarge` or `Malformed`."""
    charset = (request.content_params or {}).get("charset", "utf-8")
    if request.content_type != JSON or charset.lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType(f"Send the request as {JSON} in UTF-8.")
    try:
        body = BODY.decode(read_bytes(request).decode())  # members that are ignored must be UTF-8 too
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as trouble:
        reason = "it is nested too deeply" if isinstance(trouble, RecursionError) else trouble
        raise Malformed(f"The body is not a GraphQL request in JSON: {reason}.") from None
    require_storable(body.variables)
    return body


def read_bytes(request: HttpRequest) -> bytes:
    """Return the body, also one sent in chunks, whose length nobody has announced and which Django takes for empty."""
    most = settings.ENVIRONMENT.contentapi_max_body
    chunked = request.headers.get("Transfer-Encoding", "").lower() == "chunked"
    content: bytes = request.META["wsgi.input"].read(most + 1) if chunked else b""
    length = len(content) if chunked else int(request.META.get("CONTENT_LENGTH") or 0)
    if length > most:
        raise TooLarge(f"The body is larger than the {most} bytes that are allowed (CONTENTAPI_MAX_BODY).")
    return content if chunked else request.body


def execute(body: GraphQLBody, context: RequestContext) -> tuple[dict[str, Any], int, Mapping[str, str]]:
    """Execute a request. Returns the members of the answer, its status and its headers."""
    report = ErrorReport()
    # A blank stands for the empty document, which Ariadne takes for none at all.
    _, result = graphql_sync(
        SCHEMA,
        {"query": body.query or " ", "variables": body.variables, "operationName": body.operation_name},
        context_value=context,
        query_parser=parse_document,
        query_validator=validate_document,
        introspection=settings.ENVIRONMENT.contentapi_introspection == "on",
        error_formatter=report.add,
        execution_context_class=ProjectingExecutor,
    )
    if not report.kinds:
        return result, 200, {}
    if report.outside_execution:
        result.pop("data", None)
    if any(value is not None for value in (result.get("data") or {}).values()):
        return result, PARTIAL_SUCCESS, {}
    return result, report.worst.status, report.worst.headers


def answer(members: dict[str, Any], status: int, headers: Mapping[str, str], media_type: str) -> HttpResponse:
    ordered = {
        name: members[name] for name in ("errors", "data") if name in members
    }  # errors first, as GraphQL advises
    return HttpResponse(
        msgspec.json.encode(ordered),
        status=status,
        headers=headers,
        content_type=f"{media_type}; charset=utf-8",
    )
