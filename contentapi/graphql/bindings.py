"""Attach each projection to its object type of the SDL, and check that the fields of both match."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from ariadne import convert_camel_case_to_snake
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)
from graphql.utilities import coerce_input_literal

from contentapi.projection import NodeType, Projection, ProjectionError, RelayType, RowInterface, SdlField

EXTENSION = "projection"  # the key among the extensions of a GraphQL type


class ProjectionBindable:
    """The projections of a schema, as an Ariadne bindable. Raises `ProjectionError` if one does not match the SDL."""

    def __init__(self, projections: Sequence[Projection | RelayType]) -> None:
        self.projections = projections

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        for projection in self.projections:
            kind = schema.get_type(projection.name)
            is_interface = isinstance(projection, NodeType | RowInterface)
            if not isinstance(kind, GraphQLInterfaceType if is_interface else GraphQLObjectType):
                what = "interface" if is_interface else "object type"
                raise ProjectionError(f"{projection.name} has a projection, but is not an {what} of the SDL.")
            kind.extensions[EXTENSION] = projection
            if isinstance(kind, GraphQLInterfaceType) and isinstance(projection, NodeType | RowInterface):
                check_possible_types(projection, schema.get_possible_types(kind))
        for projection in self.projections:
            kind = cast("GraphQLObjectType | GraphQLInterfaceType", schema.get_type(projection.name))
            for name, field in kind.fields.items():
                if is_list_of_lists(field.type):
                    raise ProjectionError(f"{kind}.{name}: lists of lists cannot be projected.")
            projection.bind({name: build_sdl_field(field) for name, field in kind.fields.items()})


def check_possible_types(interface: NodeType | RowInterface, types: Iterable[GraphQLObjectType]) -> None:
    """Raise `ProjectionError` unless the types that implement an interface are those that it can be read as."""
    in_sdl, projected = {kind.name for kind in types}, {projection.name for projection in interface.types}
    for name in sorted(in_sdl ^ projected):
        place = "the SDL" if name in in_sdl else "its projection"
        raise ProjectionError(f"{name} implements {interface.name} only in {place}.")


def is_list_of_lists(kind: GraphQLOutputType) -> bool:
    outer = get_nullable_type(kind)
    return is_list_type(outer) and is_list_type(get_nullable_type(outer.of_type))


def build_sdl_field(field: GraphQLField) -> SdlField:
    named = get_named_type(field.type)
    return SdlField(
        type_name=named.name,
        written=str(field.type),
        projection=get_projection(named),
        is_list=is_list_type(get_nullable_type(field.type)),
        is_nullable=not is_non_null_type(field.type),
        values=frozenset(named.values) if isinstance(named, GraphQLEnumType) else None,
        arguments={convert_camel_case_to_snake(name): get_default(argument) for name, argument in field.args.items()},
    )


def get_default(argument: GraphQLArgument) -> Any:
    """Return an argument's default; None when it has none."""
    literal = argument.ast_node and argument.ast_node.default_value
    return coerce_input_literal(literal, argument.type) if literal else None


def get_projection(kind: GraphQLNamedType) -> Projection | RelayType | None:
    projection: Projection | RelayType | None = kind.extensions.get(EXTENSION)
    return projection
