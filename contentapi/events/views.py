"""The feed as a REST resource."""

from collections.abc import Iterable

import msgspec

from contentapi.auth.authentication import HEADERS
from contentapi.conf import conf
from contentapi.core.errors import Malformed
from contentapi.core.pagination import DEFAULT_PAGE, require_page_size
from contentapi.core.text import consume_into_json_array
from contentapi.events.feed import Feed, LogSubscription
from contentapi.events.sources import get_event_types
from contentapi.events.tickets import create_ticket
from contentapi.graphql.documents import describe_stream_server
from contentapi.http.response import OK, Response
from contentapi.rest import Resource, ResourceRequest
from contentapi.rest.pages import parse_integer, parse_query_parameters
from contentapi.rest.request_bodies import EmptyBody

PARAMETERS = frozenset({"after", "subject", "type"})


class EventCollection(Resource):
    def get(self, request: ResourceRequest) -> Response:
        wanted, values = parse_filter(request.query.items(), "limit")
        limit = require_page_size(parse_integer("limit", values), default=DEFAULT_PAGE)
        return render_page(Feed(request.actor, wanted), limit, request)


class TicketCollection(Resource):
    def post(self, request: ResourceRequest) -> Response:
        request.body_if_any(EmptyBody)
        credential = {name: request.environ[key] for name, key in HEADERS.items() if key in request.environ}
        ticket, expires_at = create_ticket(request.actor, credential)
        return Response(OK, msgspec.json.encode({"ticket": ticket, "expiresAt": expires_at}))


class StreamElsewhere(Resource):
    """The address of the stream, which another process serves: a proxy has not sent the request there."""

    def get(self, _: ResourceRequest) -> Response:
        raise Malformed(describe_stream_server())


def parse_filter(query: Iterable[tuple[str, list[str]]], *others: str) -> tuple[LogSubscription, dict[str, str]]:
    """Return what `after`, `subject` and `type` ask for, and all query parameters. Raises `Malformed`."""
    given = ((name, [",".join(values)] if name == "type" else values) for name, values in query)
    values = parse_query_parameters(given, PARAMETERS.union(others))
    types = values["type"].split(",") if "type" in values else None
    return LogSubscription.parse(values.get("after"), types, values.get("subject")), values


def render_page(feed: Feed, limit: int, request: ResourceRequest) -> Response:
    """Return the first events of a feed as JSON. Executes one statement."""
    room = conf.environment.contentapi_max_response
    found = get_event_types().read(feed.rows[:limit], request.actor, room=room)
    end = found[-1][1] if len(found) == limit else feed.end
    items = [event for event, _ in found]
    members = {"data": msgspec.Raw(consume_into_json_array(items)), "next_cursor": feed.log.format_cursor(end)}
    return Response(OK, msgspec.json.encode(members))


RESOURCES = {"events": EventCollection, "events/stream": StreamElsewhere, "events/tickets": TicketCollection}
