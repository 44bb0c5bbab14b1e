"""The resolvers of the fields `events` of the graph: a page, and what streams follow."""

from collections.abc import Sequence
from functools import partial

from ariadne import QueryType, SubscriptionType

from contentapi.core.pagination import parse_id
from contentapi.events.feed import build_events_connection
from contentapi.events.sources import EventTypes
from contentapi.events.subscriptions import LogSubscription
from contentapi.graphql.root_fields import Info, bind_fields, pass_arguments


def build_event_resolvers(event_types: EventTypes) -> QueryType:
    """Return the resolver of the root field for the types of events of a schema."""
    build = partial(build_events_connection, event_types=event_types)
    return bind_fields(QueryType(), {"events": pass_arguments(build)})


def build_event_subscription(event_types: EventTypes) -> SubscriptionType:
    """Return the source of the root field. `contentapi.streams` reads its events, so that it has no resolver."""
    subscription = SubscriptionType()

    @subscription.source("events")  # type: ignore[arg-type]  # no generator: `contentapi.graphql.subscriptions` calls it
    def follow_events(
        _: None,
        info: Info,
        after: str | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
    ) -> LogSubscription:
        names = None if types is None else frozenset(event_types.parse(types))
        return LogSubscription(after, names, None if subject is None else parse_id(subject))

    return subscription
