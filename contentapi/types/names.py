"""The names that an own type cannot have: each becomes a class, an attribute, a column, a root field and a type."""

import keyword
import re
from collections.abc import Collection

from django.db import models

from contentapi.conf.content_apps import RESOURCES
from contentapi.types.fields import TAG, Kind, OwnField, OwnType, SdlError

# The reserved key words of PostgreSQL (Appendix C of its manual)
SQL = re.compile(
    "all|analyse|analyze|and|any|array|as|asc|asymmetric|authorization|binary|both|case|cast|check|collate|collation|"
    "column|concurrently|constraint|create|cross|current_(catalog|date|role|schema|time|timestamp|user)|default|"
    "deferrable|desc|distinct|do|else|end|except|false|fetch|for|foreign|freeze|from|full|grant|group|having|ilike|in|"
    "initially|inner|intersect|into|is|isnull|join|lateral|leading|left|like|limit|localtime|localtimestamp|natural|not|"
    "notnull|null|offset|on|only|or|order|outer|overlaps|placing|primary|references|returning|right|select|session_user|"
    "similar|some|symmetric|system_user|table|tablesample|then|to|trailing|true|union|unique|user|using|variadic|verbose|"
    "when|where|window|with"
)
LONGEST = 60  # characters of a column: PostgreSQL keeps 63, and that of a relation ends with `_id`
# Names of rows and of pages
KERNEL = re.compile(
    "id|created_at|updated_at|published_at|version|shard_key|node|cursor|expected_version|input|first|last|before|after|"
    "page|per_page|order_by|fields|filter|actor|provided|after_pk|own|opened_version|list|str|models|timezone|self"
)
# Beginnings of paths, besides those of the resources
PATHS = (
    *("admin", "docs", "graphql", "healthz", "media", "oauth", "preview", "preview-links", "previews"),
    *("readyz", "static", "uploads", "v1"),
)
DJANGO = {*dir(models.Model), "objects", "pk"}
# Names of the modules that `start_type` writes
CODE = (
    *("API", "App", "Announcement", "OwnModel", "SharedIdField", "ArrayField", "GinIndex", "Q", "Value", "Coalesce"),
    *("UTC", "NEVER", "Meta", "models", "timezone", "datetime", "announce_rows"),
)


def require_free_names(own: OwnType, taken: Collection[str]) -> None:
    """Raise `SdlError` if a name of the type collides. `taken` has the root fields and types of other files."""
    if keyword.iskeyword(own.name) or own.name in CODE:
        raise SdlError(f"{own.place}: this name is taken by the code of a model.")
    if keyword.iskeyword(own.app) or SQL.fullmatch(own.app):
        raise SdlError(f"{own.place}: the app cannot be named {own.app}, which is a reserved word.")
    if own.path in (*RESOURCES, *PATHS):
        raise SdlError(f"{own.place}: the paths of {own.path} belong to the server; choose another plural.")
    if own.plural == own.singular:
        raise SdlError(f"{own.place}: the plural must differ from {own.singular}.")
    for field in own.fields:
        if field.kind == Kind.ENUM:
            require_free_enum(own, field)
    for name in list_api_names(own):
        if name in taken:
            raise SdlError(f"{own.place}: the schema has {name} already; choose another name, or another plural.")
    require_free_columns(own)


def require_free_enum(own: OwnType, field: OwnField) -> None:
    """Raise `SdlError` if the enum of a field cannot be a class beside the model: each value becomes a name."""
    place, enum = f"{own.place}.{field.name}", field.type_name
    if enum in (*CODE, own.name) or keyword.iskeyword(enum):
        raise SdlError(f"{place}: the enum needs another name than {enum}.")
    names = [value.upper() for value in field.values]
    if len({*names}) < len(names):
        raise SdlError(f"{place}: two values of {enum} differ in upper and lower case only.")
    if any(name.startswith("_") for name in names):
        raise SdlError(f"{place}: a value of {enum} must begin with a letter.")


def require_free_columns(own: OwnType) -> None:
    """Raise `SdlError` for a field whose name an attribute of the row, or another field, has."""
    used = {TAG} if own.find_field("tags") else set()  # the filter by one of them
    for field in own.fields:
        if problem := find_problem(field.column):
            raise SdlError(f"{own.place}.{field.name}: {problem}.")
        names = {field.name, field.input_name, field.column, field.input_column}
        if twice := used & names:
            raise SdlError(f"{own.place}.{field.name}: another field needs the name {min(twice)} too.")
        used |= names


def find_problem(column: str) -> str:
    """Return why there cannot be a column with this name, or an empty text."""
    if keyword.iskeyword(column):
        return "the name is a reserved word of Python"
    if SQL.fullmatch(column):
        return "the name is a reserved word of SQL"
    if len(column) > LONGEST:
        return f"the name of its column has more than {LONGEST} characters"
    if column in DJANGO:
        return "Django's models have this name"
    return "the server uses this name" if KERNEL.fullmatch(column) else ""


def list_api_names(own: OwnType) -> list[str]:
    """Return the names that the type adds to the schema, beside its own: root fields and types."""
    name, verbs = own.name, own.verbs
    return [
        own.singular,
        own.plural,
        *(f"{verb}{name}" for verb in verbs),
        *(f"{name}{suffix}" for suffix in ("Connection", "Edge", "Filter", "Sort", "SortField")),
        *(f"{verb.capitalize()}{name}{suffix}" for verb in verbs for suffix in ("Input", "Payload")),
    ]
