"""The query parameter `fields`: the fields that a client selects, in place of those of a representation.

    fields=id,parent.name,items      id parent { name } items { …ItemResource }

So they are a fragment of the request: cost, limits and permissions are those of the same selection in GraphQL.
"""

import re
from collections.abc import Iterable, Sequence
from copy import copy
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from graphql import DocumentNode, FieldNode, NameNode, SelectionSetNode, get_named_type, is_composite_type

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import Malformed
from contentapi.graphql.costs import CostVisitor
from contentapi.graphql.limits import DocumentSizes, build_limit_error, is_schema_hidden
from contentapi.projection.selections import SelectedField
from contentapi.rest.fragments import EXTENSION, collect_selection
from contentapi.rest.pages import parse_query_parameters
from contentapi.rest.representations import Representation

PATHS = re.compile(r"[^,.?]+(?:[,.][^,.?]+)*")
OF_CURSORS = ("id", "createdAt")
NO_FRAGMENTS = DocumentNode(definitions=())
SELECTIONS: BoundedCache[Representation] = BoundedCache(
    conf.environment.contentapi_document_cache, weigh=lambda selected: 1000 + selected.size, name="fields"
)

Tree = dict[str, Any]  # of each key, the tree below it


def select_fields(shown: Representation, values: Sequence[str]) -> Representation:
    """Return a representation with the fields that the parameter names. Raises `Malformed`."""
    text = parse_query_parameters([("fields", values)], {"fields"})["fields"]
    found = SELECTIONS.get((shown, text))
    if found is None:
        found = build_representation(shown, text)
        SELECTIONS.put((shown, text), found)
    return found


def build_representation(shown: Representation, text: str) -> Representation:
    """Return a copy of a representation with other fields. Cursors may need some that the response does not show."""
    tree: Tree = {}
    for path in parse_paths(text):
        add_path(tree, shown.kind, path)
    selected = copy(shown)
    selected.fields, selected.size, selected.cost = text, len(repr(tree)), measure_cost(shown, tree)
    selected.is_plain = False
    select_tree(selected, tree, [each.key for each in shown.selection if each.key in OF_CURSORS])
    return selected


def measure_cost(shown: Representation, tree: Tree) -> int:
    """Return the cost of an object. Raises `LimitExceeded` for its depth."""
    nodes = build_selection_set(shown.kind, tree)
    depth = DocumentSizes(NO_FRAGMENTS).measure_selections(nodes, 1).depth
    require_within_limit("depth", 1 + depth, "max_depth")
    cost = CostVisitor(shown.schema, NO_FRAGMENTS).measure_selections(shown.kind, nodes)
    return 1 + cost.once.evaluate({}, {})


def select_tree(selected: Representation, tree: Tree, of_cursor: Iterable[str]) -> None:
    hidden = [key for key in of_cursor if key not in tree]
    selected.hidden = f',"{hidden[0]}":'.encode() if hidden else b""
    nodes = build_selection_set(selected.kind, tree | {key: {} for key in hidden})
    selected.selection = tuple(collect_selection(selected.kind, nodes, {}, Path("fields")))


def parse_paths(text: str) -> list[list[str]]:
    """Return the names of each path, each path once. Raises `Malformed`."""
    require_within_limit("length in bytes", len(text.encode()), "max_query_length")
    if not PATHS.fullmatch(text):
        raise Malformed('fields must be names separated by commas, with dots before names below: "id,parent.id".')
    paths = [path.split(".") for path in dict.fromkeys(text.split(","))]
    require_within_limit("number of tokens", sum(map(len, paths)), "max_tokens")
    require_within_limit("depth", 1 + max(map(len, paths)), "max_depth")  # what follows uses recursion
    return paths


def require_within_limit(what: str, counted: int, name: str) -> None:
    variable = f"contentapi_{name}"
    most = getattr(conf.environment, variable)
    if counted > most:
        raise build_limit_error(what, counted, most, variable)


def add_path(tree: Tree, kind: Any, path: Iterable[str]) -> None:
    """Add the field of a path; without a path below it, an object has the fields of its own representation."""
    above = ""
    for name in path:
        if not is_composite_type(kind):
            raise Malformed(f'fields has "{name[:50]}" below {above}, which is a {kind.name} without fields.')
        key, field = find_field(kind, name)
        tree, kind, above = tree.setdefault(key, {}), get_named_type(field.type), name
    if is_composite_type(kind):
        add_selection(tree, get_own_selection(kind, above))


def get_own_selection(kind: Any, name: str) -> Iterable[SelectedField]:
    if EXTENSION not in kind.extensions:
        raise Malformed(f"fields must have a path below {name}, such as {name}.{next(iter(kind.fields))}.")
    selection: Iterable[SelectedField] = kind.extensions[EXTENSION].selection
    return selection


def add_selection(tree: Tree, selection: Iterable[SelectedField]) -> None:
    for each in selection:
        add_selection(tree.setdefault(each.key, {}), each.selection)


def find_field(kind: Any, name: str) -> tuple[str, Any]:
    """Return the key and the field of a name in the SDL, or of a key of the representation. Raises `Malformed`."""
    if name in kind.fields:
        return name, kind.fields[name]
    shown = kind.extensions.get(EXTENSION)
    for each in shown.selection if shown else ():
        if each.key != each.name and each.key.strip("_") == name.strip("_"):  # `_links`
            return each.key, kind.fields[each.name]
    raise build_name_error(kind, name)


def build_name_error(kind: Any, name: str) -> Malformed:
    nearest = [] if is_schema_hidden() else get_close_matches(name[:50], kind.fields, 1)
    suggestion = f' Did you mean "{nearest[0]}"?' if nearest else ""
    return Malformed(f'fields has "{name[:50]}", which is no field of {kind.name}.{suggestion}')


def build_selection_set(kind: Any, tree: Tree) -> SelectionSetNode:
    nodes = []
    for key, below in tree.items():
        if key.removesuffix("?") == key or key.removesuffix("?") not in tree:
            field = find_field(kind, key)[1]
            inner = build_selection_set(get_named_type(field.type), below) if below else None
            nodes.append(FieldNode(name=field.ast_node.name, alias=NameNode(value=key), selection_set=inner))
    return SelectionSetNode(selections=tuple(nodes))
