"""What webhooks know of the apps: the types of events and the schema. `contentapi.schema` states both."""

from ariadne import SchemaBindable
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


CATALOGUE = Catalogue()
