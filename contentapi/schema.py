"""Bind the SDL files of schema/ to what the apps declare."""

from functools import cache

from ariadne import load_schema_from_path, make_executable_schema
from django.conf import settings
from graphql import GraphQLSchema

from contentapi.events.declarations import load_apps
from contentapi.events.resolvers import build_event_resolvers, build_event_subscription
from contentapi.events.sources import EventType, EventTypes
from contentapi.events.webhooks.catalogue import CATALOGUE
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.graphql.nodes import build_node_resolvers
from contentapi.graphql.scalars import DATE_TIME
from contentapi.graphql.sorting import SORT_DIRECTION
from contentapi.projection import PAGE_INFO, NodeType
from contentapi.rest.fragments import RepresentationFragments

APPS = load_apps()
TYPES = [each for app in APPS for each in app.types]
NODE = NodeType({each.projection: each.node for each in TYPES if each.node})
EVENT_TYPES = EventTypes(
    EventType(each.projection, each.node, each.events) for each in TYPES if each.node and each.events
)
PROJECTIONS = [PAGE_INFO, NODE, *EVENT_TYPES.projections, *(each for app in APPS for each in app.projections)]


@cache
def load_sdl() -> str:
    """Return the SDL of the files in schema/. Its subfolders contain fragments and the released SDL."""
    return "\n".join(load_schema_from_path(path) for path in sorted(settings.SCHEMA_DIR.glob("*.graphql")))


def build_schema() -> GraphQLSchema:
    """Return the executable schema. Raises an error that names type and field if a binding does not match the SDL."""
    representations = [each for app in APPS for each in app.representations]
    return make_executable_schema(
        load_sdl(),
        *(DATE_TIME, SORT_DIRECTION),
        *(each for app in APPS for each in app.bindables),
        *(build_node_resolvers(NODE), build_event_resolvers(EVENT_TYPES), build_event_subscription(EVENT_TYPES)),
        ProjectionBindable(PROJECTIONS),
        RepresentationFragments(settings.SCHEMA_DIR / "resources", representations),
        CATALOGUE.of(EVENT_TYPES),
        convert_names_case=True,
    )


SCHEMA = build_schema()
