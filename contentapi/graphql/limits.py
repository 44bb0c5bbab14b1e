"""Limit the structure of an operation: depth, aliases, root fields, mutations and directives, with fragments expanded.

Measuring reads only names, so it happens before the costlier validation. Every definition is walked once, without
recursion. A fragment counts as often as it is spread but is measured once, so the work grows with the document and not
with its expansion. `@skip` and `@include` do not change the result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
)

from contentapi.conf import conf
from contentapi.core.errors import LimitExceeded

COUNT_CAP = 10**12  # larger numbers are reported as "1000000000000 or more"
MAX_NESTING = 100  # validation, costs and execution use recursion, so this is not a setting
INTROSPECTION = ("__schema", "__type")
RAISED_BY_ATOMIC = ("contentapi_max_aliases", "contentapi_max_root_fields")  # to the limit of mutations with `@atomic`


class Nesting(NamedTuple):
    """The numbers of fields, introspection fields and braces that enclose a selection."""

    fields: int = 0
    introspecting: int = 0
    braces: int = 1


class FragmentSpread(NamedTuple):
    name: str
    around: Nesting


@dataclass(slots=True)
class OperationSize:
    """The size of an operation or a fragment. A depth is a number of nested fields, without `__typename`."""

    is_write: bool = False
    is_atomic: bool = False
    nesting: int = 0
    depth: int = 0
    introspection_depth: int = 0
    root_fields: int = 0
    aliases: int = 0
    directives: int = 0

    def add(self, inner: "OperationSize", around: Nesting) -> None:
        """Add the size of a fragment that is spread inside of `around`."""
        if around.introspecting:
            found = around.introspecting + max(inner.depth, inner.introspection_depth)
            self.introspection_depth = max(self.introspection_depth, found)
        else:
            self.depth = max(self.depth, around.fields + inner.depth)
            self.introspection_depth = max(self.introspection_depth, inner.introspection_depth)
            self.root_fields += 0 if around.fields else inner.root_fields
        self.nesting = max(self.nesting, around.braces + inner.nesting)
        self.aliases += inner.aliases
        self.directives += inner.directives


class DefinitionSize(NamedTuple):
    """The size of a definition without its fragments, and the fragments that it spreads."""

    size: OperationSize
    spreads: list[FragmentSpread]


Sizes = Mapping[str, OperationSize]


def measure_operations(document: DocumentNode) -> Sizes:
    """Return the sizes of the operations of a document by name, with an empty name for an anonymous one."""
    fragments = {
        node.name.value: measure_definition(node)
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    expand_fragments(fragments)
    sizes = {}
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            size, spreads = measure_definition(node)
            add_fragment_sizes(size, spreads, fragments)
            sizes[get_operation_name(node)] = size
    return sizes


def get_operation_name(operation: OperationDefinitionNode) -> str:
    return operation.name.value if operation.name else ""


def is_atomic(definition: OperationDefinitionNode | FragmentDefinitionNode) -> bool:
    return any(directive.name.value == "atomic" for directive in definition.directives or ())


def measure_definition(definition: OperationDefinitionNode | FragmentDefinitionNode) -> DefinitionSize:
    is_write = getattr(definition, "operation", None) is OperationType.MUTATION
    size = OperationSize(is_write, is_write and is_atomic(definition))
    size.directives = len(definition.directives or ()) + sum(
        len(variable.directives or ()) for variable in definition.variable_definitions or ()
    )
    spreads = []
    pending: list[tuple[SelectionSetNode, Nesting]] = [(definition.selection_set, Nesting())]
    while pending:
        selections, around = pending.pop()
        size.nesting = max(size.nesting, around.braces)
        for node in selections.selections:
            size.directives += len(node.directives or ())
            if isinstance(node, FragmentSpreadNode):
                spreads.append(FragmentSpread(node.name.value, around))
                continue
            inside = count_node(size, node, around)
            if inner := getattr(node, "selection_set", None):
                pending.append((inner, inside))
    return DefinitionSize(size, spreads)


def count_node(size: OperationSize, node: SelectionNode, around: Nesting) -> Nesting:
    """Count a field (an inline fragment is not counted). Returns the nesting of its selection."""
    fields, introspecting, braces = around
    if isinstance(node, FieldNode):
        size.aliases += node.alias is not None
        size.root_fields += not (fields or introspecting)
        if introspecting or node.name.value in INTROSPECTION:
            introspecting += 1
        elif node.name.value != "__typename":
            fields += 1
        size.depth = max(size.depth, fields)
        size.introspection_depth = max(size.introspection_depth, introspecting)
    return Nesting(fields, introspecting, braces + 1)


def expand_fragments(fragments: Mapping[str, DefinitionSize]) -> None:
    """Add to each fragment the sizes of the fragments that it spreads, the innermost first.

    A fragment that spreads itself is not expanded: validation rejects it.
    """
    begun: set[str] = set()
    done: set[str] = set()
    pending = list(fragments)
    while pending:
        name = pending[-1]
        size, spreads = fragments[name]
        inner = [] if name in begun else [spread.name for spread in spreads]
        begun.add(name)
        if missing := [other for other in inner if other in fragments and other not in begun]:
            pending += missing
            continue
        if name not in done:
            add_fragment_sizes(size, [spread for spread in spreads if spread.name in done], fragments)
            done.add(name)
        pending.pop()


def add_fragment_sizes(
    size: OperationSize, spreads: list[FragmentSpread], fragments: Mapping[str, DefinitionSize]
) -> None:
    for spread in spreads:
        if spread.name in fragments:
            size.add(fragments[spread.name].size, spread.around)


def require_within_limits(sizes: Sizes, operation_name: str | None) -> None:
    """Check the selected operation against all limits. Raises `LimitExceeded` for the first that is exceeded.

    The nesting of all operations is limited, because all are validated. If the document has no such operation, nothing
    is executed, so no other limit applies.
    """
    nesting = max((size.nesting for size in sizes.values()), default=0)
    if nesting > MAX_NESTING:
        raise build_limit_error("nesting", nesting, MAX_NESTING)
    if len(sizes) == 1 and not operation_name:
        [operation_name] = sizes
    selected = sizes.get(operation_name or "")
    environment = conf.environment
    for what, counted, variable in iterate_limited_counts(selected) if selected else ():
        most = getattr(environment, variable)
        if selected and selected.is_atomic and variable in RAISED_BY_ATOMIC:
            variable = max(variable, "contentapi_max_atomic_mutations", key=partial(getattr, environment))
            most = getattr(environment, variable)
        if counted > most:
            raise build_limit_error(what, counted, most, variable)


def iterate_limited_counts(size: OperationSize) -> Iterator[tuple[str, int, str]]:
    yield "depth", size.depth, "contentapi_max_depth"
    yield "depth of introspection", size.introspection_depth, "contentapi_max_introspection_depth"
    yield "number of aliases", size.aliases, "contentapi_max_aliases"
    if size.is_write:
        variable = "contentapi_max_atomic_mutations" if size.is_atomic else "contentapi_max_mutations"
        yield "number of mutations", size.root_fields, variable
    yield "number of root fields", size.root_fields, "contentapi_max_root_fields"
    yield "number of directives", size.directives, "contentapi_max_directives"


def require_count_within_limit(counted: int, what: str, variable: str) -> None:
    """Raise `LimitExceeded` for a count that stops at its limit."""
    most: int = getattr(conf.environment, variable)
    if counted > most:
        raise build_limit_error(what, f"{most + 1} or more", most, variable)


def build_limit_error(what: str, counted: int | str, most: int, variable: str = "") -> LimitExceeded:
    """Return the error for a document that exceeds a limit. `variable` is the setting of the limit, if it has one."""
    value = f"{COUNT_CAP} or more" if isinstance(counted, int) and counted >= COUNT_CAP else counted
    setting = f" ({variable.upper()})" if variable else ""
    return LimitExceeded(f"The query's {what} is {value}; at most {most} is allowed{setting}.", limit=what)
