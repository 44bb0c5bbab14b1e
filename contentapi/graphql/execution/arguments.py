"""The arguments of a field, read from the variables of each request."""

from typing import Any

from graphql import (
    ArgumentNode,
    FieldNode,
    GraphQLField,
    ListValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    get_argument_values,
)
from graphql.execution.values import VariableValues

from contentapi.projection import ReadArguments


def compile_argument_reader(field: GraphQLField, node: FieldNode) -> ReadArguments:
    """Return a function from a request's variables to the arguments of a field, coerced and with their defaults.

    Those that no variable says are the same objects for all requests: a resolver must not change them.
    """
    given = {get_python_name(field, argument): argument.value for argument in node.arguments or ()}
    if not any(map(has_variable, given.values())):
        constant = get_argument_values(field, node)
        return lambda _: constant
    names = {name: value.name.value for name, value in given.items() if isinstance(value, VariableNode)}
    if len(names) < len(field.args):  # some are left to their defaults, or hold more than a variable
        return lambda variables: get_argument_values(field, node, variables)

    def read(variables: VariableValues) -> dict[str, Any]:
        """Take what the variables hold already coerced; what is null or left out is for graphql-core to judge."""
        values = {name: variables.coerced.get(variable) for name, variable in names.items()}
        return get_argument_values(field, node, variables) if None in values.values() else values

    return read


def get_python_name(field: GraphQLField, argument: ArgumentNode) -> str:
    name = argument.name.value
    return field.args[name].out_name or name


def has_variable(value: ValueNode) -> bool:
    if isinstance(value, ListValueNode):
        return any(map(has_variable, value.values))
    if isinstance(value, ObjectValueNode):
        return any(has_variable(member.value) for member in value.fields)
    return isinstance(value, VariableNode)
