"""What webhooks know of the apps: the types of events and the schema. `contentapi.schema` states both."""

from importlib import import_module
from typing import Any

from ariadne import SchemaBindable
from django.conf import settings
from graphql import GraphQLSchema

from contentapi.events.sources import EventTypes


class Catalogue(SchemaBindable):
    """The types of events, and the schema on which selections are compiled: as a bindable, it learns both."""

    types: EventTypes
    schema: GraphQLSchema

    def of(self, types: EventTypes) -> "Catalogue":
        self.types = types
        return self

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        self.schema = schema

    def __getattr__(self, name: str) -> Any:
        """Load the schema when it is needed first: a command has not loaded it."""
        if name not in ("types", "schema"):
            raise AttributeError(name)
        import_module(settings.ROOT_URLCONF)
        return vars(self)[name]


CATALOGUE = Catalogue()
