"""Compile functions that read the arguments of a field from the variables of a request."""

from collections.abc import Iterable
from typing import Any

from graphql import (
    FieldNode,
    GraphQLField,
    ListValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    VariableValues,
    get_argument_values,
)

from contentapi.projection.selections import ReadArguments


def compile_argument_reader(field: GraphQLField, node: FieldNode) -> ReadArguments:
    """Return a function from a request's variables to the coerced arguments of a field, with their defaults.

    All requests share the values of arguments without variables. A resolver must not change them.
    """
    given = {
        field.args[argument.name.value].out_name or argument.name.value: argument.value
        for argument in node.arguments or ()
    }
    if not any(map(has_variable, given.values())):
        constant = get_argument_values(field, node)
        return lambda _: constant
    names = {name: value.name.value for name, value in given.items() if isinstance(value, VariableNode)}
    if len(names) < len(field.args):  # some have their defaults, or a list or an object with variables
        return lambda variables: get_argument_values(field, node, variables)

    def read(variables: VariableValues) -> dict[str, Any]:
        """Return the variables' values; graphql-core decides about null and omitted variables."""
        values = {}
        for name, variable in names.items():
            value = values[name] = variables.coerced.get(variable)
            if value is None:
                return get_argument_values(field, node, variables)
        return values

    return read


def has_variable(value: ValueNode) -> bool:
    if isinstance(value, ListValueNode):
        return any(map(has_variable, value.values))
    if isinstance(value, ObjectValueNode):
        return any(has_variable(member.value) for member in value.fields)
    return isinstance(value, VariableNode)


def have_arguments_below(nodes: Iterable[Any]) -> bool:
    """Return whether a field in the selections of these nodes has arguments."""
    sets = [getattr(node, "selection_set", None) for node in nodes]
    below = [each for found in sets if found for each in found.selections]
    return bool(below) and (any(getattr(each, "arguments", None) for each in below) or have_arguments_below(below))
