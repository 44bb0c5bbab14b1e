"""The words of the SDL of an own type: nouns, descriptions and rules."""

from collections.abc import Iterator
from typing import Any

from contentapi.types.declared import AUTHOR
from contentapi.types.fields import Kind, OwnType, convert_to_snake

READ_RULES = {
    "public": "",
    "member": " Requires a credential with the scope `{scope}:read`.",
    "staff": " Requires the scope `{scope}:read` of an editor or an admin.",
}
WRITE_RULES = {
    "author": "Only editors may {verb} {rows} of other authors.",
    "editor": "Only editors and admins may {verb} {rows}.",
    "admin": "Only admins may {verb} {rows}.",
}


def separate_words(name: str) -> str:
    """Return a name as words: `menu cards` for `menuCards`."""
    return convert_to_snake(name).replace("_", " ")


def add_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def list_words(own: OwnType) -> dict[str, str]:
    """Return the names of a row and of several, as the templates have them."""
    row, rows = separate_words(own.name), separate_words(own.plural)
    a_row = add_article(row)
    return {
        "row": row,
        "rows": rows,
        "Rows": rows[0].upper() + rows[1:],
        "a_row": a_row,
        "A_row": a_row[0].upper() + a_row[1:],
        "path": own.path,
        "snake": convert_to_snake(own.name),
        "read_rule": READ_RULES[own.read].format(scope=own.path),
    }


def list_actions(own: OwnType) -> Iterator[dict[str, Any]]:
    """Yield the words of each mutation."""
    words = list_words(own)
    scope = f"{words['path']}:write"
    scopes = {"create": scope, "update": scope, "delete": scope}
    if own.has_publication:
        scopes |= {"publish": "posts:publish", "unpublish": "posts:publish"}
    for verb, needed in scopes.items():
        rule = WRITE_RULES[own.write].format(verb=verb, rows=words["rows"])
        yield {
            "verb": verb,
            "Verb": verb.capitalize(),
            "is_edit": verb in ("create", "update"),
            "description": f"{verb.capitalize()} {words['a_row']}. {rule} Requires the scope `{needed}`.",
        }


def list_filters(own: OwnType) -> Iterator[tuple[str, str]]:
    """Yield the names and types of the filter: equality of enums, booleans and relations, and a tag."""
    for field in own.fields:
        if field.kind in (Kind.ENUM, Kind.BOOLEAN, Kind.RELATION) and not field.is_list:
            yield field.name, "ID" if field.kind == Kind.RELATION else field.type_name
        elif field.name == "tags" and field.is_list and field.kind == Kind.TEXT:
            yield "tag", "String"


def list_orders(own: OwnType) -> list[str]:
    publication = ["publishedAt"] if own.has_publication else []
    return ["createdAt", "updatedAt", *publication, *(field.name for field in own.fields if field.is_sortable)]


def list_inputs(own: OwnType) -> Iterator[dict[str, str]]:
    """Yield the members of the inputs. A new row needs those that are required, but for its author."""
    for field in own.fields:
        base = "ID" if field.kind == Kind.RELATION else field.type_name
        type_name = f"[{base}!]" if field.is_list else base
        is_needed = field.is_required and field.name != AUTHOR
        yield {
            "name": field.input_name,
            "type": type_name,
            "type_of_new": f"{type_name}!" if is_needed else type_name,
        }
