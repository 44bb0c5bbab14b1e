"""Costs that depend on the variables of a request: sizes of lists, costs of inputs, and sums of both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    GraphQLInputObjectType,
    GraphQLNamedType,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    get_named_type,
)

from contentapi.conf import conf
from contentapi.graphql.cost_directives import ListSize, SlicingArgument
from contentapi.graphql.limits import COUNT_CAP

LONGEST_INT = len("-2147483648")  # a longer default value belongs to a variable of another type

Variables = Mapping[str, Any]


class SizeExpression(NamedTuple):
    """The size of a list: its slicing arguments, each with a number or the name of a variable.

    `assumed` is the size if no argument has a value; None is CONTENTAPI_MAX_PAGE.
    """

    arguments: tuple[tuple[SlicingArgument, int | str | None], ...]
    assumed: int | None

    def evaluate(self, variables: Variables) -> int:
        """Return the largest value of the arguments, at most CONTENTAPI_MAX_PAGE: larger pages are rejected."""
        most: int = conf.environment.contentapi_max_page
        sizes = []
        for argument, given in self.arguments:
            size = read_size_of_value(argument, variables.get(given)) if isinstance(given, str) else given
            size = argument.default if size is None else size
            if size is not None:
                sizes.append(size)
        if sizes:
            return min(most, max(0, *sizes))
        return most if self.assumed is None else self.assumed


class InputExpression(NamedTuple):
    """The cost of an input whose value is a variable: its weight, and the weights of the members that have a value."""

    members: Mapping[tuple[str, str], int]  # the weights of the members of all inputs
    kind: GraphQLNamedType
    weight: int
    variable: str

    def evaluate(self, variables: Variables) -> int:
        value = variables.get(self.variable)
        return 0 if value is None else self.weight + self.measure_members(self.kind, value)

    def measure_members(self, kind: GraphQLNamedType, value: Any) -> int:
        """Return the sum of the weights of the members of a JSON value that are not null, at any depth."""
        if not isinstance(kind, GraphQLInputObjectType):
            return 0
        cost = 0
        for item in value if isinstance(value, list) else (value,):
            for name, member in item.items() if isinstance(item, dict) else ():
                if member is not None and name in kind.fields:
                    cost += self.members.get((kind.name, name), 0)
                    cost += self.measure_members(get_named_type(kind.fields[name].type), member)
        return cost


FactorExpression = SizeExpression | InputExpression


def read_size_of_value(argument: SlicingArgument, value: Any) -> int | None:
    """Return the size that the JSON value of a slicing argument means. A list of one item may be given as the item."""
    if argument.is_list and value is not None:
        return len(value) if isinstance(value, list) else 1
    return as_int(value)


def as_int(value: Any) -> int | None:
    """Return a JSON number as GraphQL's Int reads it; None for any other value."""
    if isinstance(value, float):
        return int(value) if isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class CostExpression:
    """The sum of a number and of other expressions, each multiplied by the size of a list or the cost of an input."""

    constant: int = 0
    parts: tuple[tuple[int | FactorExpression, "CostExpression | LargestExpression"], ...] = ()

    @classmethod
    def sum_terms(cls, terms: Iterable[tuple[int | FactorExpression, "CostExpression"]]) -> "CostExpression":
        """Return the sum of terms, with the parts that contain no variable added up."""
        constant, parts = 0, []
        for size, term in terms:
            if isinstance(size, int) and not term.parts:
                constant += size * term.constant
            else:
                parts.append((size, term))
        return cls(min(constant, COUNT_CAP), tuple(parts))

    @classmethod
    def find_largest(cls, terms: Sequence["CostExpression"]) -> "CostExpression":
        """Return the largest of terms, of which the variables decide unless all are numbers."""
        if any(term.parts for term in terms):
            return cls(0, ((1, LargestExpression(tuple(terms))),))
        return cls(max(term.constant for term in terms))

    def evaluate(self, variables: Variables, known: dict[int, int]) -> int:
        """Return the value for these variables. `known` has the values of expressions by their identity."""
        if not self.parts:
            return self.constant
        if id(self) not in known:
            values = [
                (size if isinstance(size, int) else size.evaluate(variables)) * part.evaluate(variables, known)
                for size, part in self.parts
            ]
            known[id(self)] = min(self.constant + sum(values), COUNT_CAP)
        return known[id(self)]


class LargestExpression(NamedTuple):
    """The largest of some expressions: the cost of an object that has one of several types."""

    terms: tuple[CostExpression, ...]

    def evaluate(self, variables: Variables, known: dict[int, int]) -> int:
        return max(term.evaluate(variables, known) for term in self.terms)


def build_size(size: ListSize, node: FieldNode) -> int | SizeExpression:
    """Return the number of objects of a field, as an expression if it depends on variables."""
    values = {argument.name.value: argument.value for argument in node.arguments or ()}
    arguments = tuple((argument, read_size(argument, values.get(argument.name))) for argument in size.arguments)
    expression = SizeExpression(arguments, size.assumed)
    has_variables = any(isinstance(given, str) for _, given in arguments)
    return expression if has_variables else expression.evaluate({})


def read_size(argument: SlicingArgument, node: ValueNode | None) -> int | str | None:
    """Return the size that a slicing argument means in a document, or the name of its variable. None is no value."""
    if isinstance(node, VariableNode):
        return node.name.value
    if node is None or isinstance(node, NullValueNode):
        return None
    if argument.is_list:
        return len(node.values) if isinstance(node, ListValueNode) else 1
    return int(node.value) if isinstance(node, IntValueNode) else None


def read_default(node: ValueNode) -> Any:
    """Return the default value of a variable as JSON, as far as a cost can depend on it."""
    if isinstance(node, IntValueNode):
        return int(node.value) if len(node.value) <= LONGEST_INT else None
    if isinstance(node, ListValueNode):
        return [read_default(item) for item in node.values]
    if isinstance(node, ObjectValueNode):
        return {member.name.value: read_default(member.value) for member in node.fields}
    return getattr(node, "value", None)  # null has none
