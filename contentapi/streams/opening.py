"""Open a stream: from the request to its plan, or to the response that refuses it. It runs in a thread.

The request is a WSGI environ, so that credentials, rate limits, negotiation and errors are those of the API.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from django.http import QueryDict

from contentapi.auth.authentication import HEADERS, authenticate_request
from contentapi.core.errors import (
    ApiError,
    Forbidden,
    Malformed,
    MethodNotAllowed,
    NotAcceptable,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.events.feed import LogState, read_log
from contentapi.events.subscriptions import LogSubscription, ObjectSubscription
from contentapi.events.tickets import consume_ticket
from contentapi.events.views import parse_filter
from contentapi.graphql.documents import DocumentRejected
from contentapi.graphql.endpoint import (
    charge_cost,
    encode_members,
    negotiate_media_type,
    report_errors,
)
from contentapi.graphql.errors import build_error_entry
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.persisted_documents import PersistedDocuments
from contentapi.graphql.requests import GraphQLRequest, read_body, read_query_string
from contentapi.graphql.subscriptions import Subscription, get_subscription, replace_cursor
from contentapi.http.api_version import VERSION, require_known_version
from contentapi.http.body import JSON
from contentapi.http.error_response import error_response
from contentapi.http.hosts import add_resource_metadata
from contentapi.http.negotiation import select_media_type
from contentapi.http.previews import TOKEN
from contentapi.http.response import OK, Response
from contentapi.rate_limits.account import Account
from contentapi.schema import EVENT_TYPES, SCHEMA
from contentapi.streams.formats import FEED, GRAPHQL_FORMATS, EventStream
from contentapi.streams.limits import DOCUMENTS, STREAMS, reserve_stream
from contentapi.streams.plans import FIRST_ROWS, ObjectPlan, Plan, plan_events, plan_feed
from contentapi.urls import endpoint

FEED_METHODS = ("GET", "HEAD", "OPTIONS")
GRAPHQL_METHODS = ("GET", "POST", "OPTIONS")
PRESENT = ("", "now")
NOW = -1  # the position of a stream that begins with the next event
TICKET = "ticket"  # a query parameter
# The errors that keep their status for a client that accepts nothing but a stream: it asks again, or must log in. It
# would also ask again after all others, so that it gets them in a stream that is complete.
KEPT = (Unauthenticated, Forbidden, NotAcceptable, RateLimited, Unavailable, MethodNotAllowed)
INTERNAL = 500
MOST_VARIABLES = 16 * 1024  # bytes of JSON


class Credential(msgspec.Struct, frozen=True):
    """The credential of a stream as the request had it, so that it can be checked again."""

    environ: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, environ: Mapping[str, Any]) -> "Credential":
        return cls(tuple((name, environ[name]) for name in (*HEADERS.values(), TOKEN) if name in environ))


class Opening(msgspec.Struct):
    """A stream that may begin. `position` is where in an epoch, or `NOW`. It counts against the limits of `account`."""

    plan: Plan
    position: int
    epoch: str
    actor: Actor
    credential: Credential
    account: Account
    headers: Mapping[str, str]

    def release(self) -> None:
        """Make room for other streams, when this one has ended."""
        if self.plan.operation is not None:
            DOCUMENTS.release(self.plan.operation)
        STREAMS.leave(self.account.key)


Find = Callable[[Mapping[str, Any], Actor, Account], tuple[Plan, int, str]]


def open_stream(environ: dict[str, Any], account: Account, find: Find, headers: Mapping[str, str]) -> Opening:
    """Authenticate and charge a request, and find its plan. Raises what refuses it. The caller releases it."""
    insert_ticket(environ)
    actor = authenticate_request(environ)
    account.set_actor(actor)
    account.charge_request()
    reserve_stream(account.key, is_anonymous=actor.is_anonymous)
    try:
        plan, position, epoch = find(environ, actor, account)
        if plan.operation is not None:
            DOCUMENTS.reserve(plan.operation, is_anonymous=actor.is_anonymous)
    except BaseException:
        STREAMS.leave(account.key)
        raise
    common = {
        "Content-Type": plan.format.content_type,
        "Cache-Control": "private, no-store",
        "X-Accel-Buffering": "no",  # nginx passes each write on
        "Vary": ", ".join(["Accept", *HEADERS]),
    }
    headers = {**account.headers, **common, **headers}
    return Opening(plan, position, epoch, actor, Credential.of(environ), account, headers)


def require_method(environ: Mapping[str, Any], allowed: Sequence[str]) -> None:
    if environ["REQUEST_METHOD"] not in allowed:
        raise MethodNotAllowed(environ["REQUEST_METHOD"], allowed)


def require_accepted(environ: Mapping[str, Any], *formats: EventStream) -> None:
    """Raise `NotAcceptable` unless Accept allows one of the formats."""
    names = [each.media_type for each in formats]
    if select_media_type(environ.get("HTTP_ACCEPT", ""), names) is None:
        raise NotAcceptable(f"Accept must allow {' or '.join(names)}.")


def insert_ticket(environ: dict[str, Any]) -> None:
    """Replace the ticket in the query string by its credential. Raises `Unauthenticated`."""
    query = QueryDict(environ.get("QUERY_STRING", "").encode("latin-1"))
    tickets = query.getlist(TICKET)
    if not tickets:
        return
    if len(tickets) > 1 or any(name in environ for name in HEADERS.values()):
        raise Malformed("Send one ticket, and no other credential.")
    environ |= {HEADERS[name]: value for name, value in consume_ticket(tickets[0]).items()}


def find_position(cursor: str | None) -> tuple[int, str]:
    """Return the position of a cursor, and its epoch. Raises `Malformed` and `EventsExpired`."""
    if cursor is None or cursor in PRESENT:
        return NOW, ""
    log = read_log()
    return log.parse_cursor(cursor), log.epoch


# --- REST


def open_feed(environ: dict[str, Any], prefix: str) -> Opening | Response:
    """Open the stream of a request for `/events/stream`, whose path had this version prefix."""
    account = Account(environ)
    try:
        require_method(environ, FEED_METHODS)
        require_known_version(environ)
        require_accepted(environ, FEED)

        def find(environ: Mapping[str, Any], actor: Actor, _: Account) -> tuple[Plan, int, str]:
            query = QueryDict(environ.get("QUERY_STRING", "").encode("latin-1")).lists()
            values, names = parse_filter(query, TICKET)
            types = None if names is None else frozenset(EVENT_TYPES.parse(names))
            subject = None if "subject" not in values else parse_id(values["subject"])
            followed = LogSubscription(environ.get("HTTP_LAST_EVENT_ID") or values.get("after"), types, subject)
            return plan_feed(actor, FEED, followed, prefix), *find_position(followed.after)

        return open_stream(environ, account, find, {"X-API-Version": VERSION})
    except Exception as error:  # noqa: BLE001 - every error has the same format
        response = error_response(account.charge_failure(error), environ.get("HTTP_ACCEPT", ""))
        more = {"Cache-Control": "no-store", "X-API-Version": VERSION}
        headers = {**account.headers, **add_resource_metadata(response.headers, environ), **more}
        return Response(response.status, response.body, headers)


# --- GraphQL


def open_subscription(environ: dict[str, Any]) -> Opening | Response:
    """Open the stream of a subscription, by POST or GET."""
    account = Account(environ)
    media_type = select_media_type(environ.get("HTTP_ACCEPT", ""), [each.media_type for each in GRAPHQL_FORMATS])
    format_ = next((each for each in GRAPHQL_FORMATS if each.media_type == media_type), GRAPHQL_FORMATS[0])
    try:
        require_method(environ, GRAPHQL_METHODS)
        require_accepted(environ, *GRAPHQL_FORMATS)

        def find(environ: Mapping[str, Any], actor: Actor, account: Account) -> tuple[Plan, int, str]:
            is_post = environ["REQUEST_METHOD"] == "POST"
            request = read_body(environ) if is_post else read_query_string(environ)
            return find_plan(request, actor, account, format_, environ.get("HTTP_LAST_EVENT_ID", ""))

        return open_stream(environ, account, find, {})
    except Exception as error:  # noqa: BLE001 - every error has the same format
        known = error if isinstance(error, DocumentRejected) else account.charge_failure(error)
        return refuse_subscription(known, environ, account, format_)


def refuse_subscription(
    error: DocumentRejected | ApiError, environ: Mapping[str, Any], account: Account, format_: EventStream
) -> Response:
    """Return an error response, in a stream if the client accepts nothing else. See `KEPT`."""
    response = describe_error(error)
    media_type = negotiate_media_type(environ)
    headers = {**account.headers, **add_resource_metadata(response.headers, environ), "Cache-Control": "no-store"}
    is_kept = isinstance(error, ApiError) and (isinstance(error, KEPT) or error.status == INTERNAL)
    if media_type is not None or is_kept:
        headers["Content-Type"] = f"{media_type or JSON}; charset=utf-8"
        return Response(response.status, response.body, headers)
    body = format_.begin("") + format_.frame(response.body) + format_.end
    return Response(OK, body, {**headers, "Content-Type": format_.content_type})


def describe_error(error: DocumentRejected | ApiError) -> Response:
    if isinstance(error, DocumentRejected):
        return report_errors(error.errors)
    return Response(error.status, encode_members({"errors": [build_error_entry(error)]}), error.headers)


def find_plan(
    request: GraphQLRequest, actor: Actor, account: Account, format_: EventStream, last_event: str
) -> tuple[Plan, int, str]:
    """Return the plan of a subscription, and the position and epoch where it begins. Raises `DocumentRejected`."""
    documents: PersistedDocuments = endpoint.documents
    text, name = documents.find_text(request), request.operation_name or None
    operation = get_subscription(SCHEMA, text, name)
    variables = select_declared_variables(operation, request.variables or {})
    if request.extensions:
        documents.remember(request)
    cost, _ = charge_cost(operation, variables, account, lambda: None)
    subscription = Subscription(operation, variables, actor)
    followed: LogSubscription | ObjectSubscription = subscription.follow()
    if isinstance(followed, ObjectSubscription):
        return ObjectPlan(subscription, actor, format_, followed.subject), NOW, ""
    start = find_position(last_event or followed.after)
    text, variables = replace_cursor(text, variables, subscription, "after")
    subscription = Subscription(get_subscription(SCHEMA, text, name), variables, actor)
    plan = plan_events(subscription, actor, format_, followed, cost)
    plan.read(LogState("", 0, 0), 0, 0, FIRST_ROWS)  # no events, so that a wrong argument is found now
    return plan, *start


def select_declared_variables(operation: Operation, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the variables that the operation declares: the stream keeps them. Raises `Malformed` if they are long."""
    names = [definition.variable.name.value for definition in operation.node.variable_definitions or ()]
    declared = {name: given[name] for name in names if name in given}
    length = len(msgspec.json.encode(declared))
    if length > MOST_VARIABLES:
        raise Malformed(f"At most {MOST_VARIABLES} bytes of variables are allowed in a subscription (got {length}).")
    return declared
