"""Compute the cost of an operation: an object costs 1, a scalar 0, and a page multiplies its selection by its size.

In a connection, the selection of `edges` is multiplied by the page size, and the rest counts once. An edge and its node
cost 1 together, like an item of a list.

A document is measured once. The cost of an operation is an expression, because page sizes may be variables. A fragment
is one expression, however often it is spread, so the work grows with the document and not with its expansion. `@skip`
and `@include` do not change a cost.

A connection with a search costs 500 more: it ranks up to 500 objects, whatever the size of the page.

The cost of introspection is added by `contentapi.graphql.execution.introspection`, which counts objects of the result.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, cast

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from contentapi.conf import conf
from contentapi.core.pagination import DEFAULT_PAGE
from contentapi.graphql.bindings import get_default
from contentapi.graphql.limits import COUNT_CAP, INTROSPECTION, build_limit_error, get_operation_name

PAGE_SIZES = ("limit", "first", "last")  # arguments with the number of items
COST_OF_SEARCH = 500
SEARCH = "search"  # the member of the argument `filter` that makes a connection a search
LONGEST_INT = len("-2147483648")  # a longer default value belongs to a variable of another type
COST_PER_CHARGE = 1000  # a request is charged 1, and 1 more for each full 1,000

Variables = Mapping[str, Any]


class PageSizeExpression(NamedTuple):
    """The page size of a field: its arguments, each with a number or the name of a variable, and its default.

    `fallback` is the size if no argument has a value; None means CONTENTAPI_MAX_PAGE.
    """

    arguments: tuple[tuple[int | str | None, int | None], ...]
    fallback: int | None

    def evaluate(self, variables: Variables) -> int:
        """Return the largest value of the arguments, at most CONTENTAPI_MAX_PAGE: larger pages are rejected."""
        most: int = conf.environment.contentapi_max_page
        sizes = []
        for argument, default in self.arguments:
            size = as_int(variables.get(argument) if isinstance(argument, str) else argument)
            size = default if size is None else size
            if size is not None:
                sizes.append(size)
        if sizes:
            return min(most, max(0, *sizes))
        return most if self.fallback is None else self.fallback


class SearchExpression(NamedTuple):
    """Whether a connection is a search: 1 if a variable has a value, or its member `search` for a whole filter."""

    variable: str
    is_filter: bool = False

    def evaluate(self, variables: Variables) -> int:
        value = variables.get(self.variable)
        if self.is_filter:
            value = value.get(SEARCH) if isinstance(value, dict) else None
        return int(value is not None)


FactorExpression = PageSizeExpression | SearchExpression


def as_int(value: Any) -> int | None:
    """Return a JSON number as GraphQL's Int reads it; None for any other value."""
    if isinstance(value, float):
        return int(value) if isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class CostExpression:
    """The sum of a number and of other expressions, each multiplied by a page size or by whether there is a search."""

    constant: int = 0
    parts: tuple[tuple[int | FactorExpression, "CostExpression"], ...] = ()

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


class SelectionCost(NamedTuple):
    """The cost of a selection: once, and for each item if it is a selection of a connection.

    `leaves` is the number of scalars in its result, or `COUNT_CAP` if the selection contains a list of objects.
    """

    once: CostExpression = CostExpression()
    each: CostExpression = CostExpression()
    leaves: int = 1


class OperationCost(NamedTuple):
    """The cost of an operation, and properties of its root fields.

    `writes` is the number of mutations. Fields with `@skip` or `@include` count, as in all limits of a document: the
    number is known before variables are coerced.
    """

    total: CostExpression
    defaults: dict[str, Any]  # of its variables, as far as the cost can depend on them
    writes: int = 0
    leaves: int = 0
    has_introspection: bool = False
    is_only_introspection: bool = False

    def evaluate(self, variables: Variables | None) -> int:
        if not self.total.parts:
            return self.total.constant
        return self.total.evaluate({**self.defaults, **(variables or {})}, {})


def measure_costs(schema: GraphQLSchema, document: DocumentNode) -> dict[str, OperationCost]:
    """Return the costs of the operations of a valid document by name, with an empty name for an anonymous one."""
    visitor = CostVisitor(schema, document)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return {get_operation_name(node): visitor.measure_operation(node) for node in operations}


def require_cost_within_limit(cost: int) -> None:
    most = conf.environment.contentapi_max_cost
    if cost > most:
        raise build_limit_error("cost", cost, most, "contentapi_max_cost")


@dataclass
class CostVisitor:
    """Computes the costs in one walk through a document."""

    schema: GraphQLSchema
    document: DocumentNode
    spread: dict[str, SelectionCost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        definitions = self.document.definitions
        self.fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}

    def measure_operation(self, node: OperationDefinitionNode) -> OperationCost:
        root: Any = self.schema.get_root_type(node.operation)
        defaults = {
            definition.variable.name.value: read_default(definition.default_value)
            for definition in node.variable_definitions or ()
            if definition.default_value is not None
        }
        cost = self.measure_selections(root, node.selection_set)
        fields = list(self.iterate_root_fields(node.selection_set, set()))
        names = {field.name.value for field in fields}
        keys = {
            node.alias.value if node.alias else node.name.value for node in fields if node.name.value != "__typename"
        }
        return OperationCost(
            cost.once,
            defaults,
            writes=len(keys) if node.operation is OperationType.MUTATION else 0,
            leaves=cost.leaves,
            has_introspection=not names.isdisjoint(INTROSPECTION),
            is_only_introspection=names <= {*INTROSPECTION, "__typename"},
        )

    def iterate_root_fields(self, node: SelectionSetNode, spread: set[str]) -> Iterator[FieldNode]:
        """Yield the fields of a selection set and of its fragments, each fragment once."""
        for selection in node.selections:
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, InlineFragmentNode):
                yield from self.iterate_root_fields(selection.selection_set, spread)
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in spread:
                spread.add(selection.name.value)
                yield from self.iterate_root_fields(self.fragments[selection.name.value].selection_set, spread)

    def measure_selections(self, parent: GraphQLNamedType, node: SelectionSetNode) -> SelectionCost:
        terms = [self.measure_selection(parent, selection) for selection in node.selections]
        return SelectionCost(
            CostExpression.sum_terms((1, term.once) for term in terms),
            CostExpression.sum_terms((1, term.each) for term in terms),
            min(sum(term.leaves for term in terms), COUNT_CAP),
        )

    def measure_selection(self, parent: GraphQLNamedType, node: SelectionNode) -> SelectionCost:
        if isinstance(node, FragmentSpreadNode):
            return self.measure_fragment(node.name.value)
        if isinstance(node, InlineFragmentNode):
            return self.measure_selections(self.get_type_condition(parent, node), node.selection_set)
        return self.measure_field(parent, cast("FieldNode", node))

    def get_type_condition(
        self, parent: GraphQLNamedType, node: InlineFragmentNode | FragmentDefinitionNode
    ) -> GraphQLNamedType:
        condition = node.type_condition
        return cast("GraphQLNamedType", self.schema.get_type(condition.name.value)) if condition else parent

    def measure_fragment(self, name: str) -> SelectionCost:
        if name not in self.spread:
            node = self.fragments[name]
            kind = self.get_type_condition(cast("Any", None), node)
            self.spread[name] = self.measure_selections(kind, node.selection_set)
        return self.spread[name]

    def measure_field(self, parent: Any, node: FieldNode) -> SelectionCost:
        name = node.name.value
        definition = None if name.startswith("__") else parent.fields[name]
        if definition is None or node.selection_set is None:
            return SelectionCost()
        kind = get_named_type(definition.type)
        inner = self.measure_selections(kind, node.selection_set)
        leaves = COUNT_CAP if is_list_type(get_nullable_type(definition.type)) else inner.leaves
        own_cost = 0 if name == "node" and parent.name.endswith("Edge") else 1  # an edge and its node cost 1 together
        one = CostExpression(min(inner.once.constant + own_cost, COUNT_CAP), inner.once.parts)
        size = build_page_size(definition, node)
        if is_connection(kind):
            search = (count_searches(node), CostExpression(COST_OF_SEARCH))
            return SelectionCost(CostExpression.sum_terms([(1, one), (size, inner.each), search]), leaves=leaves)
        if name == "edges" and is_connection(parent):
            return SelectionCost(each=one, leaves=leaves)
        return SelectionCost(CostExpression.sum_terms([(size, one)]), leaves=leaves)


def is_connection(kind: GraphQLNamedType) -> bool:
    """Return whether a type is a connection, which Relay's specification defines by its name."""
    return kind.name.endswith("Connection")


def build_page_size(definition: GraphQLField, node: FieldNode) -> int | PageSizeExpression:
    """Return the number of objects of a field, as an expression if it depends on variables."""
    values = {argument.name.value: argument.value for argument in node.arguments or ()}
    arguments = tuple(
        (read_int_or_variable(values.get(name)), get_default(definition.args[name]))
        for name in PAGE_SIZES
        if name in definition.args
    )
    if not arguments:
        return 1
    size = PageSizeExpression(arguments, DEFAULT_PAGE if is_connection(get_named_type(definition.type)) else None)
    has_variables = any(isinstance(argument, str) for argument, _ in arguments)
    return size if has_variables else size.evaluate({})


def count_searches(node: FieldNode) -> int | SearchExpression:
    """Return whether a connection is a search, as an expression if it depends on a variable."""
    value = next((argument.value for argument in node.arguments or () if argument.name.value == "filter"), None)
    if isinstance(value, VariableNode):
        return SearchExpression(value.name.value, is_filter=True)
    search = find_member(value, SEARCH)
    if isinstance(search, VariableNode):
        return SearchExpression(search.name.value)
    return int(search is not None and not isinstance(search, NullValueNode))


def find_member(node: ValueNode | None, name: str) -> ValueNode | None:
    """Return the value of a member of an input object; None if the value is not an object with this member."""
    fields = node.fields if isinstance(node, ObjectValueNode) else ()
    return next((field.value for field in fields if field.name.value == name), None)


def read_default(node: ValueNode) -> Any:
    """Return the default value of a variable as far as a cost can depend on it: a number, a text, a search."""
    if isinstance(node, IntValueNode):
        return int(node.value) if len(node.value) <= LONGEST_INT else None
    if isinstance(node, StringValueNode):
        return node.value
    search = find_member(node, SEARCH)
    return {SEARCH: read_default(search)} if search is not None else None


def read_int_or_variable(node: ValueNode | None) -> int | str | None:
    """Return the number or the name of the variable; None for any other value."""
    if isinstance(node, VariableNode):
        return node.name.value
    return int(node.value) if isinstance(node, IntValueNode) else None
