"""Limit the structure of an operation: depth, aliases, root fields, mutations and directives, with fragments expanded.

Measuring reads only names, so it happens before the costlier validation. A fragment counts as often as it is spread but
is measured once, so the work grows with the document and not with its expansion. `@skip` and `@include` do not change
the result.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple, cast

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
)

from contentapi.conf import conf
from contentapi.core.errors import LimitExceeded

COUNT_CAP = 10**12  # larger numbers are reported as "1000000000000 or more"
MAX_NESTING = 100  # this module, validation, costs and execution use recursion, so this is not a setting
INTROSPECTION = ("__schema", "__type")
RAISED_BY_ATOMIC = ("contentapi_max_aliases", "contentapi_max_root_fields")  # to the limit of mutations with `@atomic`


class OperationSize(NamedTuple):
    """The size of a selection. `nesting` counts braces. A depth is a number of nested fields, without `__typename`."""

    nesting: int = 0
    depth: int = 0
    introspection_depth: int = 0
    root_fields: int = 0
    aliases: int = 0
    directives: int = 0


NOTHING = OperationSize()


class MeasuredOperation(NamedTuple):
    node: OperationDefinitionNode
    size: OperationSize


Sizes = Mapping[str, MeasuredOperation]


def measure_operations(document: DocumentNode) -> Sizes:
    """Return the sizes of the operations of a document by name, with an empty name for an anonymous one.

    Raises `LimitExceeded` if any operation is nested too deeply, including one that the request does not execute.
    """
    sizes = DocumentSizes(document)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    found = {
        get_operation_name(node): MeasuredOperation(node, sizes.measure_definition(node, 1)) for node in operations
    }
    if any(size.nesting > MAX_NESTING for _, size in found.values()):
        raise build_nesting_error()
    return found


def get_operation_name(operation: OperationDefinitionNode) -> str:
    return operation.name.value if operation.name else ""


def is_atomic(definition: OperationDefinitionNode | FragmentDefinitionNode) -> bool:
    return any(directive.name.value == "atomic" for directive in definition.directives or ())


class DocumentSizes:
    """Measures the definitions of a document. `braces` is the number of braces around a selection, with its own."""

    def __init__(self, document: DocumentNode) -> None:
        nodes = document.definitions
        self.fragments = {node.name.value: node for node in nodes if isinstance(node, FragmentDefinitionNode)}
        self.sizes: dict[str, OperationSize] = {}  # of fragments

    def measure_definition(self, node: OperationDefinitionNode | FragmentDefinitionNode, braces: int) -> OperationSize:
        size = self.measure_selections(node.selection_set, braces)
        annotated = (node, *(node.variable_definitions or ()))
        return size._replace(directives=size.directives + sum(len(each.directives or ()) for each in annotated))

    def measure_selections(self, node: SelectionSetNode, braces: int) -> OperationSize:
        """Return the size of all selections. Raises `LimitExceeded` before the recursion is too deep for Python."""
        if braces > MAX_NESTING:
            raise build_nesting_error()
        sizes = [self.measure_selection(selection, braces + 1) for selection in node.selections]
        nesting, depth, introspection_depth, *counts = zip(*sizes)  # noqa: B905 - named tuples
        return OperationSize(1 + max(nesting), max(depth), max(introspection_depth), *map(sum, counts))

    def measure_selection(self, node: SelectionNode, braces: int) -> OperationSize:
        inner = self.measure_inside(node, braces)
        directives = inner.directives + len(node.directives or ())
        if not isinstance(node, FieldNode):
            return inner._replace(directives=directives)
        depth, introspection_depth = inner.depth, inner.introspection_depth
        if node.name.value in INTROSPECTION:
            depth, introspection_depth = 0, 1 + max(depth, introspection_depth)
        elif node.name.value != "__typename":
            depth += 1
        return OperationSize(
            inner.nesting, depth, introspection_depth, 1, inner.aliases + (node.alias is not None), directives
        )

    def measure_inside(self, node: SelectionNode, braces: int) -> OperationSize:
        """Return the size of what a selection contains, or of the fragment that it spreads.

        A fragment that is missing or spreads itself counts nothing: validation rejects it.
        """
        if not isinstance(node, FragmentSpreadNode):
            selections = cast("FieldNode | InlineFragmentNode", node).selection_set
            return self.measure_selections(selections, braces) if selections else NOTHING
        name = node.name.value
        if name not in self.sizes:
            self.sizes[name] = NOTHING
            if name in self.fragments:
                self.sizes[name] = self.measure_definition(self.fragments[name], braces)
        return self.sizes[name]


def require_within_limits(sizes: Sizes, operation_name: str | None) -> None:
    """Check the selected operation against all limits. Raises `LimitExceeded` for the first that is exceeded.

    If the document has no such operation, nothing is executed, so no limit applies.
    """
    if len(sizes) == 1 and not operation_name:
        [operation_name] = sizes
    selected = sizes.get(operation_name or "")
    environment = conf.environment
    for what, counted, variable in iterate_limited_counts(*selected) if selected else ():
        most = getattr(environment, variable)
        if selected and is_atomic(selected.node) and variable in RAISED_BY_ATOMIC:
            variable = max(variable, "contentapi_max_atomic_mutations", key=partial(getattr, environment))
            most = getattr(environment, variable)
        if counted > most:
            raise build_limit_error(what, counted, most, variable)


def iterate_limited_counts(node: OperationDefinitionNode, size: OperationSize) -> Iterator[tuple[str, int, str]]:
    yield "depth", size.depth, "contentapi_max_depth"
    yield "depth of introspection", size.introspection_depth, "contentapi_max_introspection_depth"
    yield "number of aliases", size.aliases, "contentapi_max_aliases"
    if node.operation is OperationType.MUTATION:
        variable = "contentapi_max_atomic_mutations" if is_atomic(node) else "contentapi_max_mutations"
        yield "number of mutations", size.root_fields, variable
    yield "number of root fields", size.root_fields, "contentapi_max_root_fields"
    yield "number of directives", size.directives, "contentapi_max_directives"


def require_within_limit(what: str, counted: int, variable: str) -> None:
    """Raise `LimitExceeded` for a number above the setting of its limit."""
    most = getattr(conf.environment, variable)
    if counted > most:
        raise build_limit_error(what, counted, most, variable)


def build_limit_error(what: str, counted: int | str, most: int, variable: str = "") -> LimitExceeded:
    """Return the error for a document that exceeds a limit. `variable` is the setting of the limit, if it has one."""
    value = f"{COUNT_CAP} or more" if isinstance(counted, int) and counted >= COUNT_CAP else counted
    setting = f" ({variable.upper()})" if variable else ""
    return LimitExceeded(f"The query's {what} is {value}; at most {most} is allowed{setting}.", limit=what)


def build_nesting_error() -> LimitExceeded:
    return build_limit_error("nesting", f"{MAX_NESTING + 1} or more", MAX_NESTING)
