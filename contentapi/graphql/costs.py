"""What a request may cost: an object counts 1, a scalar 0, and what stands in a page counts for each of its items.

Of a connection, what stands in its `edges` counts for each item, and the rest once. An edge and its node are one item,
and count 1 together, as the item of a list does: a page costs the same either way, but for the connection itself.

A document is measured once, as the sums of its operations, in which only page sizes that come from variables stay open;
each request fills them in. Every fragment is one sum, however often it is spread: the work grows with the document, and
not with what it expands to. `@skip` and `@include` change nothing: a cost holds whatever they say.

Introspection is not part of these sums: `contentapi.graphql.execution.introspection` counts the objects of a result.
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
    GraphQLCompositeType,
    GraphQLField,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
)

from contentapi.conf import conf
from contentapi.core.pagination import DEFAULT_PAGE
from contentapi.graphql.bindings import get_default
from contentapi.graphql.limits import COUNT_CAP, INTROSPECTION, get_operation_name, limit_exceeded

PAGE_SIZES = ("limit", "first", "last")  # the arguments that say how many items come back
LONGEST_INT = len("-2147483648")  # what is longer is the default of another type's variable
COST_PER_CHARGE = 1000  # a request is charged 1, and 1 more for each of these

Variables = Mapping[str, Any]


class PageSizeExpression(NamedTuple):
    """The arguments of a field that say how many items it returns: each a number or a variable, and its default.

    `otherwise` is how many there are where none of them says it; None for as many as a page may hold.
    """

    arguments: tuple[tuple[int | str | None, int | None], ...]
    otherwise: int | None

    def value(self, variables: Variables) -> int:
        """Return the largest that is given, or what a page holds at most: more is refused, and costs nothing more."""
        most = conf.environment.contentapi_max_page
        values = [
            default if (given := as_int(variables.get(said) if isinstance(said, str) else said)) is None else given
            for said, default in self.arguments
        ]
        known = [value for value in values if value is not None]
        return min(most, max(0, *known)) if known else most if self.otherwise is None else self.otherwise


def as_int(value: Any) -> int | None:
    """Return a JSON number as GraphQL's Int reads it; None for what it refuses."""
    if isinstance(value, float):
        return int(value) if isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class CostExpression:
    """A number, and other sums, each times a page size."""

    constant: int = 0
    parts: tuple[tuple[int | PageSizeExpression, "CostExpression"], ...] = ()

    @classmethod
    def of(cls, terms: Iterable[tuple[int | PageSizeExpression, "CostExpression"]]) -> "CostExpression":
        """Add up what is known already."""
        constant, parts = 0, []
        for size, term in terms:
            if isinstance(size, int) and not term.parts:
                constant += size * term.constant
            else:
                parts.append((size, term))
        return cls(min(constant, COUNT_CAP), tuple(parts))

    def value(self, variables: Variables, known: dict[int, int]) -> int:
        """Return the sum for these variables. `known` keeps what each sum came to, by its identity."""
        if not self.parts:
            return self.constant
        if id(self) not in known:
            values = [
                (size if isinstance(size, int) else size.value(variables)) * part.value(variables, known)
                for size, part in self.parts
            ]
            known[id(self)] = min(self.constant + sum(values), COUNT_CAP)
        return known[id(self)]


class SelectionCost(NamedTuple):
    """What a selection costs: once, and for each item of the connection that it is a selection of.

    `leaves` is the number of scalars in its result, or `ENDLESS` if the selection contains a list of objects.
    """

    once: CostExpression = CostExpression()
    each: CostExpression = CostExpression()
    leaves: int = 1


class OperationCost(NamedTuple):
    """The cost of an operation, and what its root fields are.

    `writes` counts mutations. Fields with `@skip` or `@include` count, as in every limit of a document: the number is
    the same for every request, and known before variables are coerced.
    """

    total: CostExpression
    defaults: dict[str, Any]  # of its variables
    writes: int = 0
    leaves: int = 0
    has_introspection: bool = False
    is_only_introspection: bool = False

    def value(self, variables: Variables | None) -> int:
        if not self.total.parts:
            return self.total.constant
        return self.total.value({**self.defaults, **(variables or {})}, {})


def measure(schema: GraphQLSchema, document: DocumentNode) -> dict[str, OperationCost]:
    """Measure the operations of a valid document, by their names; the one without a name has an empty one."""
    measuring = CostVisitor(schema, document)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return {get_operation_name(node): measuring.operation(node) for node in operations}


def require_cost_within_limit(cost: int) -> None:
    most = conf.environment.contentapi_max_cost
    if cost > most:
        raise limit_exceeded("cost", cost, most, "contentapi_max_cost")


@dataclass
class CostVisitor:
    """One walk through a document."""

    schema: GraphQLSchema
    document: DocumentNode
    spread: dict[str, SelectionCost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        definitions = self.document.definitions
        self.fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}

    def operation(self, node: OperationDefinitionNode) -> OperationCost:
        root = self.schema.get_root_type(node.operation)
        defaults = {
            definition.variable.name.value: int(definition.default_value.value)
            for definition in node.variable_definitions or ()
            if isinstance(definition.default_value, IntValueNode) and len(definition.default_value.value) <= LONGEST_INT
        }
        measured = self.selections(cast("GraphQLCompositeType", root), node.selection_set)
        fields = list(self.root_fields(node.selection_set, set()))
        names = {field.name.value for field in fields}
        keys = {field.alias.value if field.alias else field.name.value for field in fields if not is_typename(field)}
        return OperationCost(
            measured.once,
            defaults,
            writes=len(keys) if node.operation is OperationType.MUTATION else 0,
            leaves=measured.leaves,
            has_introspection=not names.isdisjoint(INTROSPECTION),
            is_only_introspection=names <= {*INTROSPECTION, "__typename"},
        )

    def root_fields(self, node: SelectionSetNode, spread: set[str]) -> Iterator[FieldNode]:
        """Yield the fields of a selection set and of its fragments, each fragment once."""
        for selection in node.selections:
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, InlineFragmentNode):
                yield from self.root_fields(selection.selection_set, spread)
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in spread:
                spread.add(selection.name.value)
                yield from self.root_fields(self.fragments[selection.name.value].selection_set, spread)

    def selections(self, parent: GraphQLNamedType, node: SelectionSetNode) -> SelectionCost:
        terms = [self.selection(parent, selection) for selection in node.selections]
        return SelectionCost(
            CostExpression.of((1, term.once) for term in terms),
            CostExpression.of((1, term.each) for term in terms),
            min(sum(term.leaves for term in terms), COUNT_CAP),
        )

    def selection(self, parent: GraphQLNamedType, node: SelectionNode) -> SelectionCost:
        if isinstance(node, FragmentSpreadNode):
            return self.fragment(node.name.value)
        if isinstance(node, InlineFragmentNode):
            return self.selections(self.narrowed(parent, node), node.selection_set)
        return self.field(parent, cast("FieldNode", node))

    def narrowed(self, parent: GraphQLNamedType, node: InlineFragmentNode | FragmentDefinitionNode) -> GraphQLNamedType:
        condition = node.type_condition
        return cast("GraphQLNamedType", self.schema.get_type(condition.name.value)) if condition else parent

    def fragment(self, name: str) -> SelectionCost:
        if name not in self.spread:
            node = self.fragments[name]
            self.spread[name] = self.selections(self.narrowed(cast("Any", None), node), node.selection_set)
        return self.spread[name]

    def field(self, parent: GraphQLNamedType, node: FieldNode) -> SelectionCost:
        name = node.name.value
        described = None if name.startswith("__") else cast("Any", parent).fields[name]
        if described is None or node.selection_set is None:
            return SelectionCost()
        kind = get_named_type(described.type)
        if not is_composite_type(kind):
            return SelectionCost()
        inner = self.selections(kind, node.selection_set)
        leaves = COUNT_CAP if is_list_type(get_nullable_type(described.type)) else inner.leaves
        is_new = not (name == "node" and parent.name.endswith("Edge"))
        one = CostExpression(min(inner.once.constant + is_new, COUNT_CAP), inner.once.parts)
        size = build_page_size(described, node)
        if is_connection(kind):
            return SelectionCost(CostExpression.of([(1, one), (size, inner.each)]), leaves=leaves)
        if name == "edges" and is_connection(parent):
            return SelectionCost(each=one, leaves=leaves)
        return SelectionCost(CostExpression.of([(size, one)]), leaves=leaves)


def is_typename(node: FieldNode) -> bool:
    return node.name.value == "__typename"


def is_connection(kind: GraphQLNamedType) -> bool:
    """Say whether a type is a connection: in Relay's specification the name tells, as that of an edge does."""
    return kind.name.endswith("Connection")


def build_page_size(described: GraphQLField, node: FieldNode) -> int | PageSizeExpression:
    """Return how many objects a field stands for: a number, where no variable says so."""
    given = {argument.name.value: argument.value for argument in node.arguments or ()}
    said = [(given.get(name), get_default(described.args[name])) for name in PAGE_SIZES if name in described.args]
    if not said:
        return 1
    otherwise = DEFAULT_PAGE if is_connection(get_named_type(described.type)) else None
    size = PageSizeExpression(tuple((read_int_or_variable(value), default) for value, default in said), otherwise)
    return size if any(isinstance(name, str) for name, _ in size.arguments) else size.value({})


def read_int_or_variable(node: ValueNode | None) -> int | str | None:
    """Return the number that is written, or the name of the variable; None for neither."""
    if isinstance(node, VariableNode):
        return node.name.value
    return int(node.value) if isinstance(node, IntValueNode) else None
