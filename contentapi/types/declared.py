"""The own types of a team: the types with `@type` in the files of schema/.

    type Recipe implements Node @type(app: "recipes", read: public, write: author, publication: true) { … }

A project without them parses nothing here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from graphql import (
    DefinitionNode,
    EnumTypeDefinitionNode,
    GraphQLSyntaxError,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
    TypeDefinitionNode,
    parse,
    print_ast,
)

from contentapi.conf.content_apps import READERS, WRITERS, OwnAccess, find_own_access
from contentapi.types.fields import (
    OwnField,
    OwnType,
    SdlError,
    name_place,
    read_field,
    read_given_arguments,
)
from contentapi.types.names import require_free_names

STANDARD = {"id": "ID!", "createdAt": "DateTime!", "updatedAt": "DateTime!", "version": "String!"}
PUBLISHED_AT = "publishedAt"
AUTHOR = "author"
ROOT_TYPES = ("Query", "Mutation", "Subscription")
PATTERNS = {
    "app": (re.compile(r"[a-z][a-z0-9_]*"), "a package such as recipes"),
    "plural": (re.compile(r"[a-z][A-Za-z0-9]*"), "a name such as dishes"),
    "read": (re.compile("|".join(READERS)), f"one of {', '.join(READERS)}"),
    "write": (re.compile("|".join(WRITERS)), f"one of {', '.join(WRITERS)}"),
}
TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
DECLARATION = re.compile(r"^type\b[^{]*@type\b", re.MULTILINE)


@cache
def load_own_types() -> Sequence[OwnType]:
    """Return the own types, in alphabetical order. Raises `SdlError`."""
    return read_own_types(settings.SCHEMA_DIR, settings.RELATED_TYPES)


def read_own_types(folder: Path, related: Mapping[str, Mapping[str, str]]) -> Sequence[OwnType]:
    """Return the own types of the files of a folder. `related` has the other types that relations can lead to.

    Raises `SdlError`.
    """
    paths = sorted(folder.glob("*.graphql"))
    if not any(DECLARATION.search(path.read_text("utf-8")) for path in paths):
        return ()
    files = {path: read_definitions(path) for path in paths}
    enums = {
        node.name.value: node for nodes in files.values() for node in nodes if isinstance(node, EnumTypeDefinitionNode)
    }
    found = [
        read_own_type(node, path, enums)
        for path, nodes in files.items()
        for node in nodes
        if isinstance(node, ObjectTypeDefinitionNode) and has_declaration(node)
    ]
    by_name = {own.name: own for own in sorted(found, key=lambda own: own.name)}
    apps = Counter(own.app for own in found)
    for own in by_name.values():
        if apps[own.app] > 1:
            raise SdlError(f"{own.place}: another own type has the app {own.app}; each has an app of its own.")
        others = [node for path, nodes in files.items() if path != own.file for node in nodes]
        require_free_names(own, {*list_names(others)})
        for field in own.relations:
            require_relation(own, field, by_name, related)
        require_same_access(own)
    return tuple(by_name.values())


def require_same_access(own: OwnType) -> None:
    """Raise `SdlError` if the start, which has no parser, reads another declaration."""
    if OwnAccess(own.path, own.read, own.write) not in find_own_access(own.file.parent):
        raise SdlError(f"{own.place}: write @type(…) without comments, at the beginning of the type.")


def list_models(types: Sequence[OwnType], related: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the labels of the models to which relations lead, by the names of their types."""
    others = {name: each["model"] for name, each in related.items()}
    return {**others, **{own.name: f"{own.app}.{own.name}" for own in types}}


def read_definitions(path: Path) -> Sequence[DefinitionNode]:
    try:
        return parse(path.read_text("utf-8"), no_location=True).definitions
    except GraphQLSyntaxError as error:
        raise SdlError(f"{path.parent.name}/{path.name} is not SDL: {error.message}") from None


def has_declaration(node: ObjectTypeDefinitionNode) -> bool:
    return any(directive.name.value == "type" for directive in node.directives or ())


def list_names(nodes: Sequence[DefinitionNode]) -> Iterator[str]:
    """Yield the names of the types, and of the root fields."""
    for node in nodes:
        if isinstance(node, TypeDefinitionNode):
            yield node.name.value
        if isinstance(node, ObjectTypeDefinitionNode | ObjectTypeExtensionNode) and node.name.value in ROOT_TYPES:
            yield from (field.name.value for field in node.fields or ())


def read_own_type(node: ObjectTypeDefinitionNode, path: Path, enums: Mapping[str, EnumTypeDefinitionNode]) -> OwnType:
    """Return a type of the SDL. Its relations and names are not checked yet. Raises `SdlError`."""
    name = node.name.value
    place = name_place(path, name)
    if not TYPE_NAME.fullmatch(name):
        raise SdlError(f"{place} must be named like MenuCard.")
    if [each.name.value for each in node.interfaces or ()] != ["Node"]:
        raise SdlError(f"{place} must implement Node, and nothing else.")
    arguments = read_declaration(node, place)
    has_publication = arguments["publication"]
    standard = STANDARD | ({PUBLISHED_AT: "DateTime"} if has_publication else {})
    types = {field.name.value: print_ast(field.type) for field in node.fields or ()}
    for required, type_name in standard.items():
        if types.get(required) != type_name:
            raise SdlError(f"{place} needs the field {required}: {type_name}.")
    fields = [field for field in node.fields or () if field.name.value not in standard]
    own = OwnType(
        name=name,
        plural=arguments["plural"] or f"{name[0].lower()}{name[1:]}s",
        app=arguments["app"],
        file=path,
        read=arguments["read"],
        write=arguments["write"],
        has_publication=has_publication,
        description=node.description.value if node.description else "",
        fields=[read_field(field, ("text", "number"), enums, place) for field in fields],
    )
    if (own.read, own.write) == ("staff", AUTHOR):
        raise SdlError(f"{place} has read: staff and write: author: authors could not read their own.")
    author = own.find_field(AUTHOR)
    if own.write == AUTHOR and types.get(AUTHOR) != f"{AUTHOR.capitalize()}!":
        raise SdlError(f"{place} has write: {AUTHOR}, and needs the field {AUTHOR}: {AUTHOR.capitalize()}!.")
    if author and author.type_name != AUTHOR.capitalize():
        raise SdlError(f"{place}.{AUTHOR} must have the type {AUTHOR.capitalize()}.")
    return own


def read_declaration(node: ObjectTypeDefinitionNode, place: str) -> dict[str, Any]:
    """Return the arguments of `@type`, with their defaults. Raises `SdlError`."""
    arguments: dict[str, Any] = {"app": "", "read": "public", "write": "editor", "publication": False, "plural": ""}
    (directive,) = (each for each in node.directives or () if each.name.value == "type")
    for name, value in read_given_arguments(directive).items():
        require_argument_of_type(name, value, place)
        arguments[name] = value
    if not arguments["app"]:
        raise SdlError(f"{place}: @type needs the argument app.")
    return arguments


def require_argument_of_type(name: str, value: object, place: str) -> None:
    if name == "publication":
        if not isinstance(value, bool):
            raise SdlError(f"{place}: publication must be true or false.")
    elif name not in PATTERNS:
        raise SdlError(f"{place}: @type has no argument {name}.")
    elif not PATTERNS[name][0].fullmatch(str(value)):
        raise SdlError(f"{place}: {name} must be {PATTERNS[name][1]}.")


def require_relation(
    own: OwnType, field: OwnField, types: Mapping[str, OwnType], related: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise `SdlError` for an unknown type, and for a required relation to a type that fewer people may read."""
    place, target = f"{own.place}.{field.name}", field.type_name
    readers = find_readers(target, types, related)
    if readers is None:
        raise SdlError(f"{place}: a field cannot have the type {target}.")
    if not field.is_required:
        return
    if own.name in list_required(target, types):
        raise SdlError(f"{place} must not be required: no first {own.name} could be created.")
    if READERS.index(readers) > READERS.index(own.read):
        raise SdlError(f"{place} must not be required: fewer people may read each {target} than {own.name}.")


def find_readers(name: str, types: Mapping[str, OwnType], related: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the audience that may read all rows of a type; None if no relation can refer to the type."""
    if own := types.get(name):
        return "staff" if own.has_publication else own.read  # unpublished rows are for staff and their author
    return related[name]["read"] if name in related else None


def list_required(name: str, types: Mapping[str, OwnType]) -> set[str]:
    """Return the name of a type and of the types that its rows cannot do without."""
    found, left = set(), [name]
    while left:
        found.add(each := left.pop())
        fields = types[each].relations if each in types else ()
        left += [field.type_name for field in fields if field.is_required and field.type_name not in found]
    return found
