"""Bind the SDL files of schema/ to what the apps declare."""

from functools import cache
from typing import cast

from ariadne import make_executable_schema
from django.conf import settings
from graphql import GraphQLObjectType, GraphQLSchema

from contentapi.events.declarations import load_apps
from contentapi.events.sources import get_event_types
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.graphql.root_fields import SORT_DIRECTION, build_node_resolvers
from contentapi.graphql.scalars import DATE_TIME
from contentapi.projection import PAGE_INFO, NodeType, ProjectionError
from contentapi.rest.fragments import RepresentationFragments
from contentapi.types.differences import require_equal_models
from contentapi.types.fields import SdlError
from contentapi.types.own_fields import extend_sdl, list_added_fields
from contentapi.types.sdl import require_valid_sdl, write_event_type

require_equal_models()
APPS = load_apps()
TYPES = [each for app in APPS for each in app.types]
NODE = NodeType({each.projection: each.node for each in TYPES if each.node})
EVENT_TYPES = get_event_types()
PROJECTIONS = [PAGE_INFO, NODE, *EVENT_TYPES.projections, *(each for app in APPS for each in app.projections)]


@cache
def load_sdl() -> str:
    """Return the SDL of the files in schema/, of the events of own types, and of what own fields add.

    The subfolders of schema/ contain fragments and the released SDL. Raises `SdlError`.
    """
    files = "\n".join(path.read_text() for path in sorted(settings.SCHEMA_DIR.glob("*.graphql")))
    own_types = [own for app in APPS for own in app.own_types]
    return "\n".join([files, *(write_event_type(own.sdl, files) for own in own_types), *extend_sdl()])


def build_schema() -> GraphQLSchema:
    """Return the executable schema. Raises `SdlError`, with type and field, if a binding does not match the SDL."""
    representations = [each for app in APPS for each in app.representations]
    try:
        schema = make_executable_schema(
            load_sdl(),
            *(DATE_TIME, SORT_DIRECTION),
            *(each for app in APPS for each in app.bindables),
            build_node_resolvers(NODE),
            ProjectionBindable(PROJECTIONS),
            RepresentationFragments(settings.SCHEMA_DIR / "resources", representations, list_added_fields()),
            convert_names_case=True,
        )
    except TypeError as error:
        require_valid_sdl(settings.SCHEMA_DIR)
        if isinstance(error, ProjectionError):
            raise SdlError(str(error)) from error
        raise
    for kind in (schema.type_map["Query"], schema.type_map["Mutation"]):
        for name, field in cast("GraphQLObjectType", kind).fields.items():
            if field.resolve is None:
                raise SdlError(f"{kind}.{name} has no resolver.")
    return schema


SCHEMA = build_schema()
