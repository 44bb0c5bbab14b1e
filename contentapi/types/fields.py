"""What a team declares in the SDL: an own type, and the fields of own types and of others, with their limits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from ariadne import convert_camel_case_to_snake
from django.db import models
from graphql import StringValueNode, print_ast
from msgspec import Meta

from contentapi.conf.content_apps import lower_first_word, separate_words

AUTHOR = "author"
TAG = "tag"
MAX_TEXT = 1000  # characters of a text without `maxLength`
MAX_ITEMS = 100  # of a list
MAX_LENGTH = 1_000_000
LARGEST_INT = 2**31 - 1
FIELD_NAME = re.compile(r"[a-z][A-Za-z0-9]*")

# Also of names of columns: resolvers get the inputs by these names. Ariadne examines each character.
convert_to_snake = cache(convert_camel_case_to_snake)


class SdlError(Exception):
    """A declaration that cannot be carried out: one sentence with the file, the type and the field."""


class Kind(StrEnum):
    """What the values of a field are. The first five are scalars of GraphQL."""

    TEXT = "String"
    INT = "Int"
    FLOAT = "Float"
    BOOLEAN = "Boolean"
    TIME = "DateTime"
    ENUM = "enum"
    RELATION = "relation"


class Traits(NamedTuple):
    """What the values of a kind are in a table, in JSON, in messages, and in a test that needs one."""

    column: "type[models.Field[Any, Any]]"
    decoded: Any
    expected: str
    example: Any

    def describe(self) -> dict[str, Any]:
        """Return the JSON Schema of a value."""
        return msgspec.json.schema(self.decoded)


MOMENT = "2026-11-21T09:30:00+00:00"
INT = Annotated[int, Meta(ge=-LARGEST_INT - 1, le=LARGEST_INT)]
TRAITS: Mapping[Kind, Traits] = {
    Kind.TEXT: Traits(models.CharField, str, "a string", "text"),
    Kind.INT: Traits(models.IntegerField, INT, "a whole number of 32 bits", 1),
    Kind.FLOAT: Traits(models.FloatField, float, "a number", 1.5),
    Kind.BOOLEAN: Traits(models.BooleanField, bool, "true or false", example=True),
    Kind.TIME: Traits(models.DateTimeField, Annotated[datetime, Meta(tz=True)], f"a time such as {MOMENT}", MOMENT),
    Kind.ENUM: Traits(models.CharField, str, "one of ", ""),
    Kind.RELATION: Traits(models.ForeignKey, str, "an id", ""),
}
NUMBERS = (Kind.INT, Kind.FLOAT)
SCALARS = {kind.value: kind for kind in Kind if kind not in (Kind.ENUM, Kind.RELATION)}


class Argument(NamedTuple):
    """An argument of directives: the attribute of a field that it sets, its types, and the fields that it fits."""

    attribute: str
    directives: Sequence[str]
    types: Sequence[type] = ()  # any, if there are none
    kinds: Sequence[Kind] = tuple(Kind)
    on_lists: Sequence[bool] = (True, False)


ARGUMENTS = {
    "maxLength": Argument("max_length", ("text", "own"), (int,), (Kind.TEXT,)),
    "minimum": Argument("minimum", ("number", "own"), (int, float), NUMBERS),
    "maximum": Argument("maximum", ("number", "own"), (int, float), NUMBERS),
    "sort": Argument("is_sortable", ("text", "number"), (bool,), (Kind.TEXT, *NUMBERS), (False,)),
    "maxItems": Argument("max_items", ("own",), (int,), on_lists=(True,)),
    "default": Argument("default", ("own",), on_lists=(False,)),
    "was": Argument("was", ("own",), (str,)),
    "filter": Argument("is_filterable", ("own",), (bool,)),
}
KINDS_OF_DIRECTIVE = {"text": (Kind.TEXT,), "number": NUMBERS, "own": tuple(Kind)}


@dataclass(frozen=True, kw_only=True)
class OwnField:
    """A field with its limits. `max_length` is that of a text or of each text of a list, in characters.

    `name` is the name in the API, and `column` that of the model: `cover` of the relation `cover`, whose value in
    inputs is `coverId`; `related_ids` of a list of relations. A list is never required: it is empty without a value.
    `values` are those of an enum. `default`, `was` and `is_filterable` are arguments of `@own`.
    """

    name: str
    type_name: str
    kind: Kind
    is_list: bool = False
    is_required: bool = False
    max_length: int = MAX_TEXT
    minimum: float | None = None
    maximum: float | None = None
    max_items: int = MAX_ITEMS
    is_sortable: bool = False
    values: tuple[str, ...] = ()
    description: str = ""
    default: Any = None
    was: str = ""
    is_filterable: bool = False

    @property
    def column(self) -> str:
        return self.input_column if self.is_list else convert_to_snake(self.name)

    @property
    def column_class(self) -> "type[models.Field[Any, Any]]":
        """The class of the column, or of that of the items of a list."""
        is_list_of_ids = self.is_list and self.kind == Kind.RELATION
        return models.BigIntegerField if is_list_of_ids else TRAITS[self.kind].column

    @property
    def input_name(self) -> str:
        """The name in inputs and bodies: `coverId` and `relatedIds` for relations."""
        suffix = ("Ids" if self.is_list else "Id") if self.kind == Kind.RELATION else ""
        return self.name + suffix

    @property
    def input_column(self) -> str:
        """The name in services, and of the attribute of a row with the value: `cover_id` for the relation `cover`."""
        return convert_to_snake(self.input_name)

    @property
    def item_type(self) -> str:
        return "ID" if self.kind == Kind.RELATION else self.type_name

    @property
    def is_needed(self) -> bool:
        """Whether a new row must have a value. Its author is by default the caller."""
        return self.is_required and self.name != AUTHOR

    @property
    def decoded(self) -> Any:
        """The type of a value, or of each of a list, with which msgspec decodes it."""
        return Literal[self.values] if self.kind == Kind.ENUM else TRAITS[self.kind].decoded

    @property
    def label(self) -> str:
        """The name in forms: `Event at` for `eventAt`."""
        return separate_words(self.name, " ").capitalize()

    @property
    def is_never_null(self) -> bool:
        """Whether the API always has a value: a list is empty, and a default takes the place of null."""
        return self.is_list or self.is_required

    def write_input(self) -> str:
        """Return the member of an input as SDL, where null is allowed: its description, and `subtitle: String`."""
        type_name = f"[{self.item_type}!]" if self.is_list else self.item_type
        description = write_description(self.description)
        return f"{description}{self.input_name}: {type_name}"


@dataclass(frozen=True, kw_only=True)
class OwnType:
    """A type with its own fields, `author` among them: not `id`, the times of the row, and `version`.

    `read` is one of `READERS`, `write` one of `WRITERS`. With `has_publication`, rows with `publishedAt` are public.
    """

    name: str
    plural: str
    app: str
    file: Path
    read: str
    write: str
    has_publication: bool
    description: str
    fields: Sequence[OwnField]

    @property
    def singular(self) -> str:
        """The name of the root field: `recipe`."""
        return lower_first_word(self.name)

    @cached_property
    def path(self) -> str:
        """The path of the collection, without slash: `recipe-books`. The scopes begin with it."""
        return separate_words(self.plural, "-")

    @cached_property
    def noun(self) -> str:
        """The name of a row in messages: `recipe book`."""
        return separate_words(self.name, " ")

    @property
    def a_noun(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @cached_property
    def nouns(self) -> str:
        return separate_words(self.plural, " ")

    @property
    def snake(self) -> str:
        return convert_to_snake(self.name)

    @property
    def place(self) -> str:
        """The beginning of messages: `schema/recipes.graphql: Recipe`."""
        return name_place(self.file, self.name)

    @property
    def verbs(self) -> list[str]:
        """The beginnings of the names of the mutations."""
        return ["create", "update", "delete", *(["publish", "unpublish"] if self.has_publication else [])]

    @property
    def relations(self) -> list[OwnField]:
        return [field for field in self.fields if field.kind == Kind.RELATION]

    @cached_property
    def filters(self) -> dict[str, OwnField]:
        """The fields by which lists are filtered, by the names of the parameters; `tag` is that of a list of tags."""
        kinds = (Kind.ENUM, Kind.BOOLEAN, Kind.RELATION)
        filters = {field.name: field for field in self.fields if not field.is_list and field.kind in kinds}
        tags = self.find_field("tags")
        return {**filters, TAG: tags} if tags and tags.is_list and tags.kind == Kind.TEXT else filters

    @property
    def orders(self) -> dict[str, str]:
        """The columns by which lists are ordered, by the names of the orders.

        `publication_order` has no nulls: rows that are not published come last.
        """
        publication = {"publishedAt": "publication_order"} if self.has_publication else {}
        sortable = {field.name: field.column for field in self.fields if field.is_sortable}
        return {"createdAt": "created_at", "updatedAt": "updated_at", **publication, **sortable}

    def find_field(self, name: str) -> OwnField | None:
        return next((field for field in self.fields if field.name == name), None)


def name_place(path: Path, name: str) -> str:
    return f"{path.parent.name}/{path.name}: {name}"


def write_description(text: str) -> str:
    """Return a description as SDL, in a block as linters want it, with the space after it. A long one has its lines."""
    block = print_ast(StringValueNode(value=text, block=True)).replace("\n", "\n  ")
    space = "\n  " if "\n" in block else " "
    return f"{block}{space}" if text else ""


def write_filter(name: str, field: OwnField) -> str:
    """Return a member of the filter as SDL."""
    return f'"""Only those with this `{name}`.""" {name}: {field.item_type}'
