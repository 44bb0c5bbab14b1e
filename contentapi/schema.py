"""Bind the SDL files of schema/ to the resolvers and projections of the apps."""

from ariadne import load_schema_from_path, make_executable_schema
from django.conf import settings
from graphql import GraphQLSchema

import blog.events
import blog.projections
import blog.resolvers
import blog.selectors
import blog.views
import orders.events
import orders.projections
import orders.resolvers
import orders.selectors
import users.events
import users.projections
import users.resolvers
import users.selectors
from contentapi.events.resolvers import build_event_resolvers, build_event_subscription
from contentapi.events.sources import EventTypes
from contentapi.events.webhooks import projections as webhooks
from contentapi.events.webhooks.catalogue import CATALOGUE
from contentapi.events.webhooks.resolvers import BINDABLES as WEBHOOK_BINDABLES
from contentapi.events.webhooks.selectors import select_delivery_node, select_webhook_node
from contentapi.events.webhooks.views import REPRESENTATIONS as WEBHOOK_REPRESENTATIONS
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.graphql.nodes import build_node_resolvers
from contentapi.graphql.scalars import DATE_TIME
from contentapi.graphql.sorting import SORT_DIRECTION
from contentapi.projection import PAGE_INFO, NodeType
from contentapi.rest.fragments import RepresentationFragments

NODE = NodeType(
    {
        blog.projections.POST: blog.selectors.select_post_by_id,
        blog.projections.AUTHOR: blog.selectors.select_author_by_id,
        blog.projections.COMMENT: blog.selectors.select_comment_by_id,
        blog.projections.IMAGE: blog.selectors.select_image_by_id,
        blog.projections.PREVIEW_LINK: blog.selectors.select_link_by_id,
        users.projections.USER: users.selectors.select_user_node,
        orders.projections.ORDER: orders.selectors.select_order_node,
        webhooks.WEBHOOK: select_webhook_node,
        webhooks.DELIVERY: select_delivery_node,  # the last: it looks into the partitions of all days
    }
)
EVENT_TYPES = EventTypes([*blog.events.SOURCES, *orders.events.SOURCES, *users.events.SOURCES])


def load_sdl() -> str:
    """Return the SDL of the files in schema/. Its subfolders contain fragments and the released SDL."""
    return "\n".join(load_schema_from_path(path) for path in sorted(settings.SCHEMA_DIR.glob("*.graphql")))


def build_schema() -> GraphQLSchema:
    """Return the executable schema. Raises an error that names type and field if a binding does not match the SDL."""
    return make_executable_schema(
        load_sdl(),
        DATE_TIME,
        *blog.resolvers.BINDABLES,
        *orders.resolvers.BINDABLES,
        *users.resolvers.BINDABLES,
        SORT_DIRECTION,
        build_node_resolvers(NODE),
        build_event_resolvers(EVENT_TYPES),
        build_event_subscription(EVENT_TYPES),
        *WEBHOOK_BINDABLES,
        ProjectionBindable(
            [
                *(PAGE_INFO, NODE, *EVENT_TYPES.projections, *webhooks.PROJECTIONS),
                *blog.projections.PROJECTIONS,
                *orders.projections.PROJECTIONS,
                *users.projections.PROJECTIONS,
            ]
        ),
        RepresentationFragments(
            settings.SCHEMA_DIR / "resources", [*blog.views.REPRESENTATIONS, *WEBHOOK_REPRESENTATIONS]
        ),
        CATALOGUE.of(EVENT_TYPES),
        convert_names_case=True,
    )


SCHEMA = build_schema()
