"""Random GraphQL documents of the schema, within the limits of an operation and close to them."""

import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLSyntaxError,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    get_named_type,
    is_non_null_type,
    is_object_type,
    parse,
)

SIZES = ("limit", "first", "last")
TRIES = 60


@dataclass
class Selection:
    """A field, its arguments as literals, and its selected subfields."""

    name: str
    kind: GraphQLObjectType | None
    arguments: dict[str, str]
    children: list["Selection"] = field(default_factory=list)


def format_document(roots: list[Selection]) -> str:
    return "{ " + " ".join(format_fields(roots)) + " }"


def format_fields(selections: list[Selection]) -> Iterator[str]:
    """Yield the text of each field. A field whose name occurs again gets an alias."""
    names: set[str] = set()
    for place, selection in enumerate(selections):
        alias = f"a{place}: " if selection.name in names else ""
        names.add(selection.name)
        given = ", ".join(f"{name}: {value}" for name, value in selection.arguments.items())
        inside = f" {{ {' '.join(format_fields(selection.children))} }}" if selection.children else ""
        yield f"{alias}{selection.name}{f'({given})' if given else ''}{inside}"


def walk_selections(selections: list[Selection]) -> Iterator[list[Selection]]:
    """Yield every list of fields."""
    yield selections
    for selection in selections:
        if selection.kind:
            yield from walk_selections(selection.children)


class Generator:
    """Generates and mutates documents. `posts` is the largest id of a post."""

    def __init__(self, rng: random.Random, posts: int) -> None:
        from contentapi.schema import SCHEMA

        self.rng, self.posts, self.schema = rng, posts, cast("Any", SCHEMA)
        self.query: Any = SCHEMA.query_type

    def fields_of(self, kind: Any) -> dict[str, Any]:
        """Return the fields of a type, with the introspection fields of the root."""
        introspection = {"__schema": SchemaMetaFieldDef, "__type": TypeMetaFieldDef} if kind is self.query else {}
        return {**kind.fields, **introspection}

    def initial_documents(self) -> list[list[Selection]]:
        """Return the documents that a person would try first.

        They are the largest page, many pages, pages of a rare status, and repeated introspection.
        """
        post, author = self.schema.type_map["Post"], self.schema.type_map["Author"]
        page = Selection(
            "posts",
            post,
            {"limit": "100"},
            [self.select_scalars("comments", post), self.select_scalars("author", post)],
        )
        many = [Selection("posts", post, {"limit": "100"}, [self.select_scalars("author", post)]) for _ in range(20)]
        documents = [[page], many, [self.whole_schema() for _ in range(20)]]
        for status in self.schema.type_map["PostStatus"].values:
            title, rare = Selection("title", None, {}), {"limit": "1", "status": status}
            theirs = [Selection("author", author, {}, [Selection("posts", post, rare, [title])]) for _ in range(30)]
            documents.append([Selection("posts", post, {"limit": "100", "status": status}, [title]) for _ in range(20)])
            documents.append([Selection("posts", post, {"limit": "100"}, theirs)])
        return [roots for roots in documents if self.is_within_limits(roots)]

    def select_scalars(self, name: str, kind: Any) -> Selection:
        """Return a field with all its scalar subfields."""
        below: Any = get_named_type(kind.fields[name].type)
        scalars = [
            Selection(leaf, None, {})
            for leaf, it in below.fields.items()
            if not is_object_type(get_named_type(it.type))
        ]
        return Selection(name, below, {}, scalars)

    def whole_schema(self) -> Selection:
        """Return every description in the schema, with the types of all fields and arguments."""
        kind, arguments = self.schema.type_map["__Type"], self.select_scalars("args", self.schema.type_map["__Field"])
        fields, reference = self.select_scalars("fields", kind), self.select_scalars("ofType", kind)
        arguments.children.append(Selection("type", kind, {}, [reference]))
        fields.children += [arguments, Selection("type", kind, {}, [reference])]
        types = self.select_scalars("types", self.schema.type_map["__Schema"])
        types.children.append(fields)
        return Selection("__schema", self.schema.type_map["__Schema"], {}, [types])

    def is_within_limits(self, roots: list[Selection]) -> bool:
        from contentapi.core.errors import LimitExceeded
        from contentapi.graphql.costs import measure_costs, require_cost_within_limit
        from contentapi.graphql.limits import measure_operations, require_within_limits

        text = format_document(roots)
        try:
            document = parse(text, max_lexical_tokens=2000)
            require_within_limits(measure_operations(document), None)
            require_cost_within_limit(measure_costs(self.schema, document)[""].evaluate(None))
        except (LimitExceeded, GraphQLSyntaxError):  # GraphQLSyntaxError: too many tokens
            return False
        return len(text) < 32_000

    def generate(self) -> list[Selection] | None:
        for _ in range(TRIES):
            roots = [self.generate_field(self.query, self.rng.randint(1, 10)) for _ in range(self.rng.randint(1, 20))]
            if self.is_within_limits(roots):
                return roots
        return None

    def mutate(self, roots: list[Selection]) -> list[Selection] | None:
        """Return a document with one to three changes within the limits, or None if none was found."""
        for _ in range(TRIES):
            other = deepcopy(roots, {id(kind): kind for kind in self.schema.type_map.values()})
            for _ in range(self.rng.randint(1, 3)):
                self.apply_change(other)
            if other and self.is_within_limits(other):
                return other
        return None

    def apply_change(self, roots: list[Selection]) -> None:
        place = self.rng.choice(list(walk_selections(roots)))
        if not place:
            return
        chosen = self.rng.choice(place)
        match self.rng.randrange(5):
            case 0 if len(place) > 1:
                place.remove(chosen)
            case 1:
                place.append(deepcopy(chosen, {id(kind): kind for kind in self.schema.type_map.values()}))
            case 2 if chosen.kind:
                chosen.children.append(self.generate_field(chosen.kind, self.rng.randint(0, 3)))
            case 3:
                parent = self.query if place is roots else self.parent_of(roots, place)
                place.append(self.generate_field(parent, self.rng.randint(0, 3)))
            case _:
                parent = self.query if place is roots else self.parent_of(roots, place)
                chosen.arguments = self.generate_arguments(self.fields_of(parent)[chosen.name].args)

    def parent_of(self, roots: list[Selection], place: list[Selection]) -> Any:
        for selections in walk_selections(roots):
            for selection in selections:
                if selection.children is place:
                    return selection.kind
        return self.query

    def generate_field(self, kind: Any, depth: int) -> Selection:
        fields = self.fields_of(kind)
        name = self.rng.choice(
            [name for name, it in fields.items() if depth > 0 or not is_object_type(get_named_type(it.type))]
            or list(fields)
        )
        described = fields[name]
        below: Any = get_named_type(described.type)
        if not is_object_type(below):
            return Selection(name, None, self.generate_arguments(described.args))
        children = [self.generate_field(below, depth - 1) for _ in range(self.rng.randint(1, 4))]
        return Selection(name, below, self.generate_arguments(described.args), children)

    def generate_arguments(self, described: dict[str, GraphQLArgument]) -> dict[str, str]:
        given = {}
        for name, argument in described.items():
            if name == "last" and "first" in given:
                continue
            if is_non_null_type(argument.type) or self.rng.random() < 0.5:
                value = self.generate_literal(name, argument.type)
                if value is not None:
                    given[name] = value
        return given

    def generate_literal(self, name: str, kind: Any) -> str | None:
        named = get_named_type(kind)
        if name in SIZES:
            return str(self.rng.choice((1, 2, 5, 10, 20, 50, 100)))
        if isinstance(named, GraphQLEnumType):
            return str(self.rng.choice(list(named.values)))
        if isinstance(named, GraphQLInputObjectType):
            members = {
                key: self.generate_literal(key, it.type) for key, it in named.fields.items() if self.rng.random() < 0.5
            }
            return "{" + ", ".join(f"{key}: {value}" for key, value in members.items() if value is not None) + "}"
        if named.name == "ID":
            return str(self.rng.choice((1, 1, 2, self.rng.randint(1, self.posts))))
        if named.name == "DateTime":
            return '"2026-01-01T00:00:00Z"'
        if named.name == "Boolean":
            return self.rng.choice(("true", "false"))
        if name == "name":  # of a type
            return f'"{self.rng.choice(list(self.schema.type_map))}"'
        return '"tag1"' if named.name == "String" and name not in ("after", "before") else None
