"""Read the directives `@cost` and `@listSize` of a schema: the weights of fields and inputs, and the sizes of lists.

The SDL is the only source of both. See https://ibm.github.io/graphql-specs/cost-spec.html and, for the formula,
docs/graphql.md#cost.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    get_directive_values,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
)

from contentapi.graphql.bindings import get_default

NO_FIELDS: frozenset[str] = frozenset()


class CostDirectiveError(TypeError):
    """The SDL does not determine a cost. Raised at start-up."""


class SlicingArgument(NamedTuple):
    """An argument whose value is the size of a list: a number or, with `is_list`, a list with that number of items."""

    name: str
    default: int | None
    is_list: bool


class ListSize(NamedTuple):
    """How many objects a field returns: the largest value of the slicing arguments, or `assumed` without a value.

    None is CONTENTAPI_MAX_PAGE. `fields` has the fields of the returned object to which the size applies, such as
    `edges`. If it is empty, the size applies to the field itself.
    """

    assumed: int | None = None
    arguments: tuple[SlicingArgument, ...] = ()
    fields: frozenset[str] = NO_FIELDS


ONE_OBJECT = ListSize(assumed=1)
LARGEST_PAGE = ListSize()  # of a list without @listSize


class FieldCost(NamedTuple):
    """The weight of one object or scalar of a field, their number, and the weights of the field's arguments.

    A field that `is_sized` has the size of the field that returns its parent, as `edges` has that of its connection.
    """

    weight: int
    size: ListSize
    is_sized: bool
    arguments: Mapping[str, int]


class SchemaCosts(NamedTuple):
    """The costs of a schema: of fields by the names of type and field, and the weights of the members of inputs.

    `weighted_inputs` has the names of the input types that have a member with a weight, at any depth.
    """

    fields: Mapping[tuple[str, str], FieldCost]
    members: Mapping[tuple[str, str], int]
    weighted_inputs: frozenset[str]


@cache
def read_schema_costs(schema: GraphQLSchema) -> SchemaCosts:
    """Return the costs of a schema. Raises `CostDirectiveError`."""
    types = [
        kind
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) and not kind.name.startswith("__")
    ]
    sized_fields: dict[str, set[frozenset[str]]] = {}  # of each type, by all fields that return it
    for kind in types:
        for field in kind.fields.values():
            size = read_list_size(schema, field) or ONE_OBJECT
            sized_fields.setdefault(get_named_type(field.type).name, set()).add(size.fields)
    fields = {}
    for kind in types:
        sized, *others = sized_fields.get(kind.name) or {NO_FIELDS}
        if others:
            raise CostDirectiveError(f"Fields that return {kind} have different sizedFields: its cost is ambiguous.")
        for name, field in kind.fields.items():
            fields[kind.name, name] = read_field_cost(schema, field, is_sized=name in sized)
    members = dict(iterate_member_weights(schema))
    return SchemaCosts(fields, members, find_weighted_inputs(schema, members))


def read_field_cost(schema: GraphQLSchema, field: GraphQLField, *, is_sized: bool) -> FieldCost:
    """Return the cost of a field: its weight or else that of its type, or else 1 for an object and 0 for a scalar."""
    kind = get_named_type(field.type)
    size = read_list_size(schema, field)
    if size is None:
        is_list = is_composite_type(kind) and is_list_type(get_nullable_type(field.type))
        size = LARGEST_PAGE if is_list else ONE_OBJECT
    weights = [read_weight(schema, element) for element in (field, kind)]
    known = [weight for weight in weights if weight is not None]
    arguments = {name: read_weight(schema, argument) for name, argument in field.args.items()}
    return FieldCost(
        known[0] if known else int(is_composite_type(kind)),
        size,
        is_sized,
        {name: weight for name, weight in arguments.items() if weight},
    )


def read_list_size(schema: GraphQLSchema, field: GraphQLField) -> ListSize | None:
    given = read_directive(schema, "listSize", field)
    if given is None:
        return None
    arguments = [(name, field.args[name]) for name in given.get("slicingArguments", ())]
    return ListSize(
        given.get("assumedSize"),
        tuple(
            SlicingArgument(name, get_default(argument), is_list_type(get_nullable_type(argument.type)))
            for name, argument in arguments
        ),
        frozenset(given.get("sizedFields", ())),
    )


def read_weight(schema: GraphQLSchema, element: Any) -> int | None:
    """Return the weight of an element of the SDL; None if it has no `@cost`. Raises `CostDirectiveError`."""
    given = read_directive(schema, "cost", element)
    if given is None:
        return None
    weight: str = given["weight"]
    if not weight.isdecimal():
        raise CostDirectiveError(f'@cost(weight: "{weight}") is not a whole number.')
    return int(weight)


def read_directive(schema: GraphQLSchema, name: str, element: Any) -> Mapping[str, Any] | None:
    definition = schema.get_directive(name)
    if definition is None or element.ast_node is None:
        return None
    return get_directive_values(definition, element.ast_node)


def iterate_inputs(schema: GraphQLSchema) -> Iterator[GraphQLInputObjectType]:
    return (kind for kind in schema.type_map.values() if isinstance(kind, GraphQLInputObjectType))


def iterate_member_weights(schema: GraphQLSchema) -> Iterator[tuple[tuple[str, str], int]]:
    for kind in iterate_inputs(schema):
        for name, member in kind.fields.items():
            weight = read_weight(schema, member)
            if weight:
                yield (kind.name, name), weight


def find_weighted_inputs(schema: GraphQLSchema, weights: Mapping[tuple[str, str], int]) -> frozenset[str]:
    """Return the names of the input types that have a member with a weight, directly or through others."""
    found = {kind for kind, _ in weights}
    while True:
        more = {
            kind.name
            for kind in iterate_inputs(schema)
            if any(get_named_type(member.type).name in found for member in kind.fields.values())
        }
        if more <= found:
            return frozenset(found)
        found |= more
