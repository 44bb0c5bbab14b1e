"""The feed as a REST resource."""

import re

import msgspec

from contentapi.conf import conf
from contentapi.core.errors import Malformed
from contentapi.core.pagination import DEFAULT_PAGE, require_page_size
from contentapi.core.text import consume_into_json_array
from contentapi.events.feed import Feed
from contentapi.events.sources import SIZE, EventTypes
from contentapi.http.response import OK, Response
from contentapi.projection.statements import SelectionRequest, read_json_and_column
from contentapi.rest import Resource, ResourceRequest
from contentapi.rest.pages import parse_integer, parse_query_parameters

PARAMETERS = {"after", "limit", "subject", "type"}
ID = re.compile("[1-9][0-9]{0,18}", re.ASCII)


def build_event_resource(types: EventTypes) -> type[Resource]:
    """Return the resource of the feed for the types of events of all apps."""

    class EventCollection(Resource):
        def get(self, request: ResourceRequest) -> Response:
            given = ((name, [",".join(values)] if name == "type" else values) for name, values in request.query)
            values = parse_query_parameters(given, PARAMETERS)
            limit = require_page_size(parse_integer("limit", values), default=DEFAULT_PAGE)
            names = values["type"].split(",") if "type" in values else None
            after, subject = values.get("after"), values.get("subject")
            if subject is not None and not ID.fullmatch(subject):
                raise Malformed("subject must be the id of an object.")
            feed = Feed(request.actor, types, after=after, names=names, subject=subject)
            return render_page(feed, limit, types, request)

    return EventCollection


def render_page(feed: Feed, limit: int, types: EventTypes, request: ResourceRequest) -> Response:
    """Return the first events of a feed as JSON. Executes one statement."""
    selection = SelectionRequest(
        types.interface,
        key="events",
        size=SIZE,
        select=types.select_data,
        actor=request.actor,
        variables={},
        room=conf.environment.contentapi_max_response,
        column="position",
    )
    found = read_json_and_column(feed.rows[:limit], selection)
    end = int(found[-1][1]) if len(found) == limit else feed.end
    items = [types.represent(event, request.prefix, request.actor) for event, _ in found]
    members = {"data": msgspec.Raw(consume_into_json_array(items)), "next_cursor": feed.log.format_cursor(end)}
    return Response(OK, msgspec.json.encode(members))
