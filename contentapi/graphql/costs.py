"""Compute the cost of an operation, from the directives `@cost` and `@listSize` of the SDL.

The cost of a field is the size of its list, times the sum of its weight and the cost of its selection, plus the weights
of its arguments. An object weighs 1 and a scalar 0, unless the SDL gives another weight. So the cost is the number of
objects that an operation may return. docs/graphql.md describes it for clients.

A document is measured once. The cost of an operation is an expression, because sizes and arguments may be variables. A
fragment is one expression for each type that it is spread on, however often that is, so the work grows with the
document and not with its expansion. `@skip` and `@include` do not change a cost.

The cost of introspection is added by `contentapi.graphql.execution.introspection`, which counts objects of the result.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import msgspec
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    ListValueNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_list_type,
)

from contentapi.graphql.cost_directives import read_schema_costs
from contentapi.graphql.cost_expressions import (
    CostExpression,
    FactorExpression,
    InputExpression,
    Variables,
    build_size,
    read_default,
)
from contentapi.graphql.limits import COUNT_CAP, INTROSPECTION, get_operation_name, require_within_limit

COST_PER_CHARGE = 1000  # a request is charged 1, and 1 more for each full 1,000
EXPENSIVE_SHARE = 10  # an operation that costs more than a tenth of CONTENTAPI_MAX_COST is expensive
ONE = CostExpression(1)

Term = tuple[int | FactorExpression, CostExpression]


class SelectionCost(NamedTuple):
    """The cost of a selection: once, and for each item of the list whose size another field determines.

    `leaves` is the number of scalars in its result, or `COUNT_CAP` if the selection contains a list of objects.
    """

    once: CostExpression = CostExpression()
    each: CostExpression = CostExpression()
    leaves: int = 1


NOTHING = SelectionCost(leaves=0)


class OperationCost(msgspec.Struct, frozen=True):
    """The cost of an operation, and properties of its root fields.

    `writes` is the number of mutations. Fields with `@skip` or `@include` count, as in all limits of a document: the
    number is known before variables are coerced. Metrics and traces use the label: its parts come from the schema, so
    that a client cannot create any number of them.
    """

    total: CostExpression
    defaults: dict[str, Any]  # of its variables, as far as the cost can depend on them
    writes: int = 0
    leaves: int = 0
    has_introspection: bool = False
    is_only_introspection: bool = False
    label: str = ""  # the type of the operation and its root field: `query posts`, or `query several`

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
    require_within_limit("cost", cost, "contentapi_max_cost")


@dataclass
class CostVisitor:
    """Computes the costs in one walk through a document."""

    schema: GraphQLSchema
    document: DocumentNode
    spread: dict[tuple[str, str], SelectionCost] = field(default_factory=dict)  # by fragment and type

    def __post_init__(self) -> None:
        self.costs = read_schema_costs(self.schema)
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
            label=f"{node.operation.value} {names.pop() if len(names) == 1 else 'several'}",
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
        """Return the cost of a selection. An object of an abstract type has the type that costs the most."""
        if is_abstract_type(parent):
            types = self.schema.get_possible_types(parent)
            found = [self.measure_selections(kind, node) for kind in types]
            return SelectionCost(
                CostExpression.find_largest([cost.once for cost in found]),
                CostExpression.find_largest([cost.each for cost in found]),
                max(cost.leaves for cost in found),
            )
        terms = [self.measure_selection(parent, selection) for selection in node.selections]
        return SelectionCost(
            CostExpression.sum_terms((1, term.once) for term in terms),
            CostExpression.sum_terms((1, term.each) for term in terms),
            min(sum(term.leaves for term in terms), COUNT_CAP),
        )

    def measure_selection(self, parent: GraphQLNamedType, node: SelectionNode) -> SelectionCost:
        if isinstance(node, FieldNode):
            return self.measure_field(parent, node)
        if isinstance(node, InlineFragmentNode):
            return self.measure_selections(parent, node.selection_set) if self.applies(node, parent) else NOTHING
        name = cast("FragmentSpreadNode", node).name.value
        fragment = self.fragments[name]
        if not self.applies(fragment, parent):
            return NOTHING
        if (name, parent.name) not in self.spread:
            self.spread[name, parent.name] = self.measure_selections(parent, fragment.selection_set)
        return self.spread[name, parent.name]

    def applies(self, node: InlineFragmentNode | FragmentDefinitionNode, kind: GraphQLNamedType) -> bool:
        """Return whether a fragment applies to the objects of an object type."""
        name = node.type_condition.name.value if node.type_condition else kind.name
        condition: Any = self.schema.get_type(name)
        return condition is kind or (is_abstract_type(condition) and self.schema.is_sub_type(condition, kind))

    def measure_field(self, parent: Any, node: FieldNode) -> SelectionCost:
        name = node.name.value
        if name.startswith("__"):
            return SelectionCost()
        definition = parent.fields[name]
        cost = self.costs.fields[parent.name, name]
        inner = SelectionCost()
        leaves = inner.leaves
        if node.selection_set is not None:
            inner = self.measure_selections(get_named_type(definition.type), node.selection_set)
            leaves = COUNT_CAP if is_list_type(get_nullable_type(definition.type)) else inner.leaves
        one = CostExpression.sum_terms([(1, CostExpression(cost.weight)), (1, inner.once)])
        if cost.is_sized:
            return SelectionCost(each=one, leaves=leaves)
        size = build_size(cost.size, node)
        terms: list[Term] = [(1, one), (size, inner.each)] if cost.size.fields else [(size, one)]
        for argument in node.arguments or ():
            kind, weight = definition.args[argument.name.value].type, cost.arguments.get(argument.name.value, 0)
            terms += self.measure_input(get_named_type(kind), weight, argument.value)
        return SelectionCost(CostExpression.sum_terms(terms), leaves=leaves)

    def measure_input(self, kind: GraphQLNamedType, weight: int, node: ValueNode) -> Iterator[Term]:
        """Yield the cost of an argument or a member of an input: nothing for null, else its weight and its members'."""
        if isinstance(node, VariableNode):
            if weight or kind.name in self.costs.weighted_inputs:
                yield InputExpression(self.costs.members, kind, weight, node.name.value), ONE
        elif isinstance(node, ListValueNode):
            yield weight, ONE
            for item in node.values:
                yield from self.measure_input(kind, 0, item)
        elif not isinstance(node, NullValueNode):
            yield weight, ONE
            if isinstance(node, ObjectValueNode) and isinstance(kind, GraphQLInputObjectType):
                for member in node.fields:
                    name = member.name.value
                    inner = get_named_type(kind.fields[name].type)
                    yield from self.measure_input(inner, self.costs.members.get((kind.name, name), 0), member.value)
