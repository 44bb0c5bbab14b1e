"""The resolver of the field `events` of the graph."""

from collections.abc import Sequence

from ariadne import QueryType
from graphql import GraphQLResolveInfo

from contentapi.events.feed import FeedQuery, build_events_connection
from contentapi.events.sources import EventTypes
from contentapi.graphql.context import RequestContext

Info = GraphQLResolveInfo[RequestContext]


def build_event_resolvers(event_types: EventTypes) -> QueryType:
    """Return the resolver of the root field for the types of events of a schema."""
    query = QueryType()

    @query.field("events")
    def resolve_events(
        _: None,
        info: Info,
        first: int | None = None,
        after: str | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
    ) -> FeedQuery:
        actor = info.context["actor"]
        return build_events_connection(actor, event_types, first=first, after=after, names=types, subject=subject)

    return query
