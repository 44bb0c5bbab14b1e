"""The resolvers of the fields `events` of the graph: a page, and what streams follow."""

from collections.abc import Sequence

from ariadne import QueryType, SubscriptionType

from contentapi.events.feed import LogSubscription, build_events_connection
from contentapi.graphql.root_fields import Info, bind_fields, pass_arguments

QUERY = bind_fields(QueryType(), {"events": pass_arguments(build_events_connection)})
SUBSCRIPTION = SubscriptionType()
BINDABLES = [QUERY, SUBSCRIPTION]


@SUBSCRIPTION.source("events")  # type: ignore[arg-type]  # no generator: `contentapi.graphql.subscriptions` calls it
def follow_events(
    _: None, info: Info, after: str | None = None, types: Sequence[str] | None = None, subject: str | None = None
) -> LogSubscription:
    return LogSubscription.parse(after, types, subject)
