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
from graphql import ObjectTypeDefinitionNode, ObjectTypeExtensionNode, TypeDefinitionNode, print_ast

from contentapi.conf.content_apps import READERS, WRITERS, OwnAccess, find_own_access, lower_first_word
from contentapi.types.fields import AUTHOR, OwnField, OwnType, SdlError, name_place
from contentapi.types.names import require_free_names
from contentapi.types.sdl import (
    Files,
    collect_enums,
    find_directive,
    iterate_nodes,
    read_description,
    read_field,
    read_files,
    read_given_arguments,
)

Related = Mapping[str, Mapping[str, str]]  # the types that relations can lead to, such as `settings.RELATED_TYPES`
STANDARD = {"id": "ID!", "createdAt": "DateTime!", "updatedAt": "DateTime!", "version": "String!"}
PUBLISHED_AT = "publishedAt"
AUTHOR_TYPE = AUTHOR.capitalize()
ROOT_TYPES = ("Query", "Mutation", "Subscription")
DEFAULTS = {"app": "", "read": "public", "write": "editor", "publication": False, "plural": ""}  # of `@type`
PATTERNS = {
    "app": (r"[a-z][a-z0-9_]*", "a package such as recipes"),
    "plural": (r"[a-z][A-Za-z0-9]*", "a name such as dishes"),
    "read": ("|".join(READERS), f"one of {', '.join(READERS)}"),
    "write": ("|".join(WRITERS), f"one of {', '.join(WRITERS)}"),
    "publication": ("True|False", "true or false"),
}
TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
DECLARATION = re.compile(r"^type\b[^{]*@type\b", re.MULTILINE)


@cache
def load_own_types() -> Sequence[OwnType]:
    """Return the own types, in alphabetical order. Raises `SdlError`."""
    return read_own_types(settings.SCHEMA_DIR, settings.RELATED_TYPES)


def read_own_types(folder: Path, related: Related) -> Sequence[OwnType]:
    """Return the own types of the files of a folder. Raises `SdlError`."""
    files = read_files(folder, DECLARATION)
    nodes = iterate_nodes(files, ObjectTypeDefinitionNode)
    enums = collect_enums(files)
    found = [read_own_type(node, path, enums) for path, node in nodes if find_directive(node, "type")]
    by_name = {own.name: own for own in sorted(found, key=lambda own: own.name)}
    apps = Counter(own.app for own in found)
    targets = list_targets(found, related)
    for own in by_name.values():
        if apps[own.app] > 1:
            raise SdlError(f"{own.place}: another own type has the app {own.app}; each has an app of its own.")
        require_free_names(own, {*list_names(files, own.file)})
        for field in own.relations:
            require_relation(own, field, by_name, targets)
        # The start, which has no parser, must read the same declaration.
        if OwnAccess(own.path, own.read, own.write) not in find_own_access(own.file.parent):
            raise SdlError(f"{own.place}: write @type(…) without comments, at the beginning of the type.")
    return tuple(by_name.values())


def load_targets() -> Related:
    """Return the types that relations can lead to. Raises `SdlError`."""
    return list_targets(load_own_types(), settings.RELATED_TYPES)


def list_targets(types: Sequence[OwnType], related: Related) -> Related:
    """Return the possible target types of a relation. Each has the label of its model and the readers of all its rows.

    Only staff and the author may read a row that is not published.
    """
    readers = {own.name: "staff" if own.has_publication else own.read for own in types}
    own_types = {own.name: {"model": f"{own.app}.{own.name}", "read": readers[own.name]} for own in types}
    return {**related, **own_types}


def list_names(files: Files, without: Path) -> Iterator[str]:
    """Yield the names of the types, and of the root fields, in all files but one."""
    for path, node in iterate_nodes(files, TypeDefinitionNode | ObjectTypeExtensionNode):
        if path == without:
            continue
        if isinstance(node, TypeDefinitionNode):
            yield node.name.value
        if node.name.value in ROOT_TYPES:
            yield from (field.name.value for field in node.fields or ())


def read_own_type(node: ObjectTypeDefinitionNode, path: Path, enums: Mapping[str, tuple[str, ...]]) -> OwnType:
    """Return a type of the SDL. Its relations and names are not checked yet. Raises `SdlError`."""
    name = node.name.value
    place = name_place(path, name)
    if not TYPE_NAME.fullmatch(name):
        raise SdlError(f"{place} must be named like MenuCard.")
    if [each.name.value for each in node.interfaces or ()] != ["Node"]:
        raise SdlError(f"{place} must implement Node, and nothing else.")
    arguments = read_declaration(node, place)
    types = {field.name.value: print_ast(field.type) for field in node.fields or ()}
    standard = STANDARD | ({PUBLISHED_AT: "DateTime"} if arguments["publication"] else {})
    for required, type_name in standard.items():
        if types.get(required) != type_name:
            raise SdlError(f"{place} needs the field {required}: {type_name}.")
    require_author(arguments, types.get(AUTHOR), place)
    fields = [field for field in node.fields or () if field.name.value not in standard]
    return OwnType(
        name=name,
        plural=arguments["plural"] or f"{lower_first_word(name)}s",
        app=arguments["app"],
        file=path,
        read=arguments["read"],
        write=arguments["write"],
        has_publication=arguments["publication"],
        description=read_description(node),
        fields=[read_field(field, ("text", "number"), enums, place) for field in fields],
    )


def require_author(arguments: Mapping[str, Any], author: str | None, place: str) -> None:
    """Raise `SdlError` unless the field `author`, which has this type, fits the access to the rows."""
    if (arguments["read"], arguments["write"]) == ("staff", AUTHOR):
        raise SdlError(f"{place} has read: staff and write: author: authors could not read their own.")
    if arguments["write"] == AUTHOR and author != f"{AUTHOR_TYPE}!":
        raise SdlError(f"{place} has write: {AUTHOR}, and needs the field {AUTHOR}: {AUTHOR_TYPE}!.")
    if author and author.rstrip("!") != AUTHOR_TYPE:
        raise SdlError(f"{place}.{AUTHOR} must have the type {AUTHOR_TYPE}.")


def read_declaration(node: ObjectTypeDefinitionNode, place: str) -> dict[str, Any]:
    """Return the arguments of `@type`, with their defaults. Raises `SdlError`."""
    given = read_given_arguments(find_directive(node, "type"))
    for name, value in given.items():
        if name not in DEFAULTS:
            raise SdlError(f"{place}: @type has no argument {name}.")
        pattern, expected = PATTERNS[name]
        is_of_type = isinstance(value, type(DEFAULTS[name]))
        if not is_of_type or not re.fullmatch(pattern, str(value)):
            raise SdlError(f"{place}: {name} must be {expected}.")
    if "app" not in given:
        raise SdlError(f"{place}: @type needs the argument app.")
    return DEFAULTS | given


def require_relation(own: OwnType, field: OwnField, types: Mapping[str, OwnType], targets: Related) -> None:
    """Raise `SdlError` for an unknown type, and for a required relation to a type that fewer people may read."""
    place = f"{own.place}.{field.name}"
    target = field.type_name
    if target not in targets:
        raise SdlError(f"{place}: a field cannot have the type {target}.")
    if not field.is_required:
        return
    if own.name in list_reached(target, types, by_required=True):
        raise SdlError(f"{place} must not be required: no first {own.name} could be created.")
    rank = READERS.index
    if rank(targets[target]["read"]) > rank(own.read):
        raise SdlError(f"{place} must not be required: fewer people may read each {target} than {own.name}.")


def list_reached(name: str, types: Mapping[str, OwnType], *, by_required: bool = False) -> set[str]:
    """Return the name of a type and of those to which relations lead from it, perhaps only by required ones."""
    found, left = set(), [name]
    while left:
        found.add(each := left.pop())
        fields = types[each].relations if each in types else ()
        names = {field.type_name for field in fields if field.is_required or not by_required}
        left += names - found
    return found
