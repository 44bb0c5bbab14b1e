"""Bind the SDL files of schema/ to the resolvers and projections of the apps."""

from ariadne import load_schema_from_path, make_executable_schema
from django.conf import settings
from graphql import GraphQLSchema

import blog.projections
import blog.representations
import blog.resolvers
import users.projections
import users.resolvers
from contentapi.graphql.bindings import ProjectionBindable
from contentapi.graphql.scalars import DATE_TIME
from contentapi.projection import PAGE_INFO
from contentapi.rest.fragments import RepresentationFragments


def load_sdl() -> str:
    """Return the SDL of the files in schema/. Its subfolders contain fragments and the released SDL."""
    return "\n".join(load_schema_from_path(path) for path in sorted(settings.SCHEMA_DIR.glob("*.graphql")))


def build_schema() -> GraphQLSchema:
    """Return the executable schema. Raises an error that names type and field if a binding does not match the SDL."""
    return make_executable_schema(
        load_sdl(),
        DATE_TIME,
        *blog.resolvers.BINDABLES,
        *users.resolvers.BINDABLES,
        ProjectionBindable([PAGE_INFO, *blog.projections.PROJECTIONS, *users.projections.PROJECTIONS]),
        RepresentationFragments(settings.SCHEMA_DIR / "resources", blog.representations.REPRESENTATIONS),
        convert_names_case=True,
    )


SCHEMA = build_schema()
