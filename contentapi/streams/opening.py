"""Open a stream: the views, which find its plan, or the response that refuses it. They run in threads.

A request is read from its WSGI environ, so that credentials, rate limits, negotiation and errors are those of the API.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase

from contentapi.auth.authentication import HEADERS, IDENTIFYING, authenticate_request
from contentapi.core.errors import ApiError, Malformed, MethodNotAllowed, NotAcceptable
from contentapi.core.identity import Actor
from contentapi.events.feed import PRESENT, LogState, LogSubscription, ObjectSubscription, read_log
from contentapi.events.sources import get_event_types
from contentapi.events.tickets import consume_ticket
from contentapi.events.views import parse_filter
from contentapi.graphql.documents import DocumentRejected
from contentapi.graphql.endpoint import charge_cost, negotiate_media_type, report_errors
from contentapi.graphql.errors import build_error_entry
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.requests import read_body, read_query_string
from contentapi.graphql.subscriptions import Subscription, get_subscription
from contentapi.http.body import JSON
from contentapi.http.error_response import error_response
from contentapi.http.hosts import add_resource_metadata
from contentapi.http.negotiation import VERSION, require_known_version, select_media_type, split_version_prefix
from contentapi.http.response import NO_CONTENT, OK, Response
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.account import Account
from contentapi.schema import SCHEMA
from contentapi.streams.formats import FEED, GRAPHQL_FORMATS, EventStream
from contentapi.streams.limits import release_stream, reserve_stream
from contentapi.streams.plans import LogPlan, ObjectPlan, Plan
from contentapi.urls import endpoint

REFUSAL = "contentapi.refusal"  # in an environ: the error with which the server refuses any stream, or None
NOW = -1  # the position of a stream that begins with the next event
TICKET = "ticket"  # a query parameter
LAST_EVENT = "HTTP_LAST_EVENT_ID"
# The statuses of errors that remain for a client that accepts nothing but a stream: it asks again, or must log in. It
# would also ask again after all others, so that it gets them in a stream that is complete.
KEPT = frozenset({401, 403, 405, 406, 429, 500, 503})
MOST_VARIABLES = 16 * 1024  # bytes of JSON
Credential = tuple[tuple[str, str], ...]  # the items of an environ
Found = tuple[Plan, int, str]  # with the position where the stream begins, and the epoch of the position


class Opening(msgspec.Struct):
    """A stream that may begin."""

    plan: Plan
    position: int  # in the epoch, or `NOW`
    epoch: str
    actor: Actor
    credential: Credential  # as the request had it, so that it can be checked again
    account: Account  # against whose limits the stream counts


class StreamView:
    """A Django view that opens streams. The response to a request that opens one has it as `opening`."""

    csrf_exempt = handles_rate_limit = True
    address: str
    methods: Sequence[str]
    formats: Sequence[EventStream]
    headers: Mapping[str, str] = {}
    find: Callable[..., Found]  # it raises `ApiError` and `DocumentRejected`
    refuse: Callable[..., Response]  # it returns the response to a request that failed with one of them

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        environ = request.META
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return HttpResponse(status=NO_CONTENT, headers={"Allow": ", ".join(self.methods)})
        current_record.get().operation = self.address  # until the operation is known
        account = Account(environ)
        accepted = select_media_type(environ.get("HTTP_ACCEPT", ""), [each.media_type for each in self.formats])
        format_ = next((each for each in self.formats if each.media_type == accepted), None)
        try:
            opening = self.open(environ, account, format_)
        except Exception as error:  # noqa: BLE001 - every error has the same format
            known = error if isinstance(error, DocumentRejected) else account.charge_failure(error)
            refusal = self.refuse(known, environ, format_ or self.formats[0])
            headers = {**account.headers, **add_resource_metadata(refusal.headers, environ), **self.headers}
            return HttpResponse(refusal.body, status=refusal.status, headers={**headers, "Cache-Control": "no-store"})
        headers = {
            **account.headers,
            "Content-Type": opening.plan.format.content_type,
            "Cache-Control": "private, no-store",
            "X-Accel-Buffering": "no",  # nginx passes each write on
            "Vary": ", ".join(["Accept", *HEADERS]),
            **self.headers,
        }
        if environ["REQUEST_METHOD"] == "HEAD":
            release_stream(account.key, opening.plan.operation)
            return HttpResponse(headers=headers)
        response = StreamingHttpResponse(headers=headers)
        response.opening = opening  # type: ignore[attr-defined]
        return response

    def open(self, environ: dict[str, Any], account: Account, format_: EventStream | None) -> Opening:
        """Authenticate and charge a request, and find its plan. Raises what refuses it. The caller releases it."""
        if environ.get(REFUSAL):
            raise environ[REFUSAL]
        if environ["REQUEST_METHOD"] not in self.methods:
            raise MethodNotAllowed(environ["REQUEST_METHOD"], self.methods)
        if format_ is None:
            raise NotAcceptable(f"Accept must allow {' or '.join(each.media_type for each in self.formats)}.")
        insert_ticket(environ)
        actor = authenticate_request(environ)
        account.set_actor(actor)
        account.charge_request()
        plan, position, epoch = self.find(environ, actor, account, format_)
        reserve_stream(account.key, plan.operation, is_anonymous=actor.is_anonymous)
        credential = tuple((name, environ[name]) for name in IDENTIFYING.values() if name in environ)
        return Opening(plan, position, epoch, actor, credential, account)


def insert_ticket(environ: dict[str, Any]) -> None:
    """Replace the ticket in the query string by its credential. Raises `Unauthenticated`."""
    tickets = parse_query(environ).getlist(TICKET)
    if not tickets:
        return
    if len(tickets) > 1 or any(name in environ for name in HEADERS.values()):
        raise Malformed("Send one ticket, and no other credential.")
    environ |= {HEADERS[name]: value for name, value in consume_ticket(tickets[0]).items()}


def parse_query(environ: Mapping[str, Any]) -> QueryDict:
    return QueryDict(environ.get("QUERY_STRING", "").encode("latin-1"))


def find_position(cursor: str | None) -> tuple[int, str]:
    """Return the position of a cursor, and its epoch. Raises `Malformed` and `EventsExpired`."""
    if cursor in (None, "", PRESENT):
        return NOW, ""
    log = read_log()
    return log.parse_cursor(cursor), log.epoch


class FeedView(StreamView):
    """Events as REST shows them, as Server-Sent Events."""

    address = "/events/stream"
    methods = ("GET", "HEAD", "OPTIONS")
    formats = (FEED,)
    headers = {"X-API-Version": VERSION}

    def find(self, environ: Mapping[str, Any], actor: Actor, _: Account, format_: EventStream) -> Found:
        require_known_version(environ)
        prefix, _path = split_version_prefix(environ["PATH_INFO"])
        followed, _values = parse_filter(parse_query(environ).lists(), TICKET)
        start = find_position(environ.get(LAST_EVENT) or followed.after)
        read = partial(get_event_types().read, actor=actor, prefix=prefix)
        return LogPlan(prefix, actor, format_, followed, read), *start

    def refuse(self, error: Any, environ: Mapping[str, Any], _: EventStream) -> Response:
        return error_response(error, environ.get("HTTP_ACCEPT", ""))


class SubscriptionView(StreamView):
    """Subscriptions of GraphQL."""

    address = "/graphql"
    methods = ("GET", "POST", "OPTIONS")
    formats = GRAPHQL_FORMATS

    def find(self, environ: Mapping[str, Any], actor: Actor, account: Account, format_: EventStream) -> Found:
        request = read_body(environ) if environ["REQUEST_METHOD"] == "POST" else read_query_string(environ)
        text, digest = endpoint.documents.find_text(request)
        operation = get_subscription(SCHEMA, text, request.operation_name or None)
        variables = select_declared_variables(operation, request.variables or {})
        if digest is not None:
            endpoint.documents.remember(digest, text)
        cost, _ = charge_cost(operation, variables, account)
        subscription = Subscription(operation, variables, actor)
        followed: LogSubscription | ObjectSubscription = subscription.follow()
        if isinstance(followed, ObjectSubscription):
            return ObjectPlan(subscription, actor, format_, followed.subject), NOW, ""
        start = find_position(environ.get(LAST_EVENT) or followed.after)
        subscription = Subscription(operation, subscription.replace_cursor("after"), actor)
        plan = LogPlan(subscription.key, actor, format_, followed, subscription.read_results, operation, cost)
        plan.read(LogState("", 0, 0), 0, 0)  # no events, so that a wrong argument is found now
        return plan, *start

    def refuse(self, error: DocumentRejected | ApiError, environ: Mapping[str, Any], format_: EventStream) -> Response:
        """Return an error response, in a stream if the client accepts nothing else. See `KEPT`."""
        response = describe_error(error)
        media_type = negotiate_media_type(environ)
        if media_type is not None or response.status in KEPT:
            headers = {**response.headers, "Content-Type": f"{media_type or JSON}; charset=utf-8"}
            return Response(response.status, response.body, headers)
        body = format_.begin("") + format_.frame(response.body) + format_.end
        return Response(OK, body, {**response.headers, "Content-Type": format_.content_type})


def describe_error(error: DocumentRejected | ApiError) -> Response:
    if isinstance(error, DocumentRejected):
        return report_errors(error.errors)
    return Response(error.status, msgspec.json.encode({"errors": [build_error_entry(error)]}), error.headers)


def select_declared_variables(operation: Operation, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the variables that the operation declares: the stream keeps them. Raises `Malformed` if they are long."""
    names = [definition.variable.name.value for definition in operation.node.variable_definitions or ()]
    declared = {name: given[name] for name in names if name in given}
    length = len(msgspec.json.encode(declared))
    if length > MOST_VARIABLES:
        raise Malformed(f"At most {MOST_VARIABLES} bytes of variables are allowed in a subscription (got {length}).")
    return declared
