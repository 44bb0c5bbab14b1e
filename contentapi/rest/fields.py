"""The query parameter `fields`: selects the fields of a response, instead of all fields of a representation.

    fields=id,parent.name,items      { id parent { name } items { ...ItemResource } }

So they are a fragment of the request: cost, limits and permissions are those of the same selection in GraphQL.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from typing import Any

from graphql import DocumentNode, FragmentDefinitionNode, get_named_type, is_composite_type

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import Malformed
from contentapi.graphql.costs import CostVisitor
from contentapi.graphql.documents import parse_within_limits
from contentapi.graphql.errors import is_schema_hidden
from contentapi.graphql.limits import DocumentSizes, require_within_limit
from contentapi.rest.fragments import collect_selection
from contentapi.rest.pages import parse_query_parameters
from contentapi.rest.representations import Representation

PATHS = re.compile(r"[^,.?]+(?:[,.][^,.?]+)*")
OF_CURSORS = {"id", "createdAt"}
SELECTIONS: BoundedCache[Representation] = BoundedCache(
    conf.environment.contentapi_document_cache,
    weigh=lambda selected: 1000 + len(selected.fields) + selected.size,
    name="fields",
)

Tree = dict[str, Any]  # of each field, as GraphQL writes it, the tree below it


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
    tree = build_tree(shown, text)
    hidden = [each.key for each in shown.selection if each.key in OF_CURSORS - tree.keys()]
    source = f"fragment Fields on {shown.kind.name} {write_selection(tree | dict.fromkeys(hidden))}"
    fragment: Any = parse_within_limits(source).definitions[0]
    selected = copy(shown)
    selected.fields = text
    selected.is_plain = False
    selected.size = len(source)
    selected.cost = measure_cost(shown, fragment)
    selected.hidden = f',"{hidden[0]}":'.encode() if hidden else b""
    selected.selection = collect_selection(shown.kind, [fragment.selection_set], shown.fragments)
    return selected


def measure_cost(shown: Representation, fragment: FragmentDefinitionNode) -> int:
    """Return the cost of an object. Raises `LimitExceeded` for its depth."""
    document = DocumentNode(definitions=(fragment, *shown.fragments.values()))
    size = DocumentSizes(document).measure_definition(fragment, 1)
    require_within_limit("depth", 1 + size.depth, "contentapi_max_depth")
    cost = CostVisitor(shown.schema, document).measure_selections(shown.kind, fragment.selection_set)
    return 1 + cost.once.evaluate({}, {})


def build_tree(shown: Representation, text: str) -> Tree:
    require_within_limit("length in bytes", len(text.encode()), "contentapi_max_query_length")
    if not PATHS.fullmatch(text):
        raise Malformed('fields must be names separated by commas, with dots before names below: "id,parent.id".')
    tree: Tree = {}
    for path in dict.fromkeys(text.split(",")):
        require_within_limit("depth", path.count(".") + 2, "contentapi_max_depth")  # what follows uses recursion
        add_path(tree, shown.kind, shown.fragments, path.split("."))
    return tree


def add_path(tree: Tree, kind: Any, fragments: Mapping[str, FragmentDefinitionNode], path: Sequence[str]) -> None:
    """Add the field of a path; without a path below it, an object has the fields of its own representation."""
    for name in path:
        if not is_composite_type(kind):
            raise Malformed(f'fields has "{name[:50]}" below a {kind.name}, which has no fields.')
        key, field = find_field(kind, fragments, name)
        tree = tree.setdefault(key, {})
        kind = get_named_type(field.type)
    if f"{kind.name}Resource" in fragments:
        tree[f"...{kind.name}Resource"] = {}
    elif is_composite_type(kind):
        raise build_leaf_error(kind, path[-1])


def build_leaf_error(kind: Any, name: str) -> Malformed:
    example = "" if is_schema_hidden() else f", such as {name}.{next(iter(kind.fields))}"
    return Malformed(f"fields must have a path below {name}{example}.")


def find_field(kind: Any, fragments: Mapping[str, FragmentDefinitionNode], name: str) -> tuple[str, Any]:
    """Return a field with its key, of a name in the SDL or of an alias in the representation. Raises `Malformed`."""
    if name in kind.fields:
        return name, kind.fields[name]
    own: Any = fragments.get(f"{kind.name}Resource")
    for node in own.selection_set.selections if own else ():
        if node.alias and node.alias.value == f"_{name.removeprefix('_')}":  # `_links`
            return f"{node.alias.value}: {node.name.value}", kind.fields[node.name.value]
    raise build_name_error(kind, name)


def build_name_error(kind: Any, name: str) -> Malformed:
    nearest = [] if is_schema_hidden() else get_close_matches(name[:50], kind.fields, 1)
    suggestion = f' Did you mean "{nearest[0]}"?' if nearest else ""
    return Malformed(f'fields has "{name[:50]}", which is no field of {kind.name}.{suggestion}')


def write_selection(tree: Tree) -> str:
    return f"{{ {' '.join(f'{key} {write_selection(below)}' if below else key for key, below in tree.items())} }}"
