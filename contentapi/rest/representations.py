"""Representations: the JSON of REST resources, as the bytes that PostgreSQL builds.

A representation is a GraphQL fragment such as `fragment PostResource on Post` in schema/resources/post.graphql, which
`contentapi.rest.fragments` binds to the schema at start-up. So both transports have the same names, values and SQL.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from django.db.models import F, Model
from graphql import FragmentDefinitionNode, GraphQLObjectType, GraphQLSchema

from contentapi.conf import conf
from contentapi.core.entity_tags import UNCHANGING
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor
from contentapi.http.response import OK, Response, build_tagged_response
from contentapi.projection import Projection, Rows
from contentapi.projection.inserts import InsertedRowSelection
from contentapi.projection.querysets import select_instance
from contentapi.projection.selections import SelectedField
from contentapi.projection.statements import SelectionRequest, read_json, read_json_and_column
from contentapi.rest.pages import PageRequest, render_page

VERSION = F("version")  # of a model with this column
OMITTED = re.compile(rb',"\w+_":null')  # no text contains it: the quotes in a text are escaped

M = TypeVar("M", bound=Model)


class Representation:
    """The JSON of a projected type as a resource.

    `noun` names the resource in messages. The expression `version` becomes part of the resource's entity tag.
    `represent` returns what REST shows of a row. A field with an alias such as `email_`, but not the first field, is
    left out if it is null. `fields` are those that the client selects, by `contentapi.rest.fields`; after `hidden` are
    those that only cursors need.
    """

    schema: GraphQLSchema
    kind: GraphQLObjectType
    fragments: Mapping[str, FragmentDefinitionNode]  # of all representations
    fields = ""
    hidden = b""
    cost = 0  # of one object with these fields

    def __init__(
        self,
        projection: Projection,
        *,
        noun: str = "",
        version: Any = None,
        represent: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.projection = projection
        self.noun = noun or projection.name.lower()
        self.name = f"{projection.name}Resource"
        self.version = version
        self.represent = represent
        self.is_plain = represent is None
        self.selection: tuple[SelectedField, ...] = ()
        self.size = 0

    def one(self, rows: Rows[Any], actor: Actor, *, key: str = "id") -> Response:
        """Return the JSON object of the first row, with its entity tag. Raises `NotFound`, which names the key.

        With fields that the client selects, it raises `ResponseTooLarge` too.
        """
        found = self.read(rows, self.build_request(actor, column=self.version))
        if not found:
            raise NotFound(f"There is no {self.noun} with this {key}.")
        text, version = found[0]
        return self.build_response(text, int(version or UNCHANGING))

    def build_response(self, text: bytes, version: int) -> Response:
        return build_tagged_response(text if self.is_plain else self.show(text), version)

    def show(self, text: bytes) -> bytes:
        """Return the JSON of a row as clients see it."""
        if self.is_plain:
            return text
        if self.represent is not None:
            text = self.represent(text)
        if self.represent is None or self.fields:
            text = OMITTED.sub(b"", text).replace(b'_":', b'":')
        return text[: text.rindex(self.hidden)] + b"}" if self.hidden else text

    def of(self, instance: Model, actor: Actor) -> Response:
        """Return the JSON object of an instance that the actor has just written, with its entity tag."""
        return self.one(select_instance(instance, actor), actor)

    def extend(self, instance: Model, actor: Actor, **members: Any) -> Response:
        """Return the JSON object of an instance that the actor has just written, with members that no row has."""
        found = msgspec.json.decode(self.of(instance, actor).body, type=dict[str, msgspec.Raw])
        return Response(OK, msgspec.json.encode({**found, **members}))

    def create(self, actor: Actor, write: Callable[[], M]) -> tuple[M, Response]:
        """Return the row that a service creates, and its JSON, which its INSERT selects where that is possible."""
        with InsertedRowSelection(self.build_request(actor)) as selection:
            row = write()
        text = selection.get_json(row)
        if text is None:
            return row, self.of(row, actor)
        version: int = UNCHANGING if self.version is None else row.version  # type: ignore[attr-defined]
        return row, self.build_response(text, version)

    def page(self, rows: Rows[Any], page: PageRequest, actor: Actor, *, within: Rows[Any] | None = None) -> Response:
        """Return a page of rows, which begin after its position. Executes one statement, two for an offset.

        `within` is the row that the collection belongs to. If the page is empty, it is looked up: raises `NotFound` if
        it does not exist. Raises `ResponseTooLarge`.
        """
        first, more = page.offset or 0, page.offset is None
        found = self.read_rows(rows[first : first + page.limit + more], actor)
        if not found and within is not None and not within.exists():
            raise NotFound(f"There is no {within.model.__name__.lower()} with this id.")
        cursor = page.cursor_after(*found[page.limit - 1]) if len(found) > page.limit else None
        items = [text if self.is_plain else self.show(text) for text, _ in found[: page.limit]]
        del found
        return render_page(items, page, cursor, rows.count)

    def read_rows(self, rows: Rows[Any], actor: Actor) -> list[tuple[bytes, bytes | None]]:
        column = F(rows.order.column) if rows.order else None
        return self.read(rows, self.build_request(actor, room=conf.environment.contentapi_max_response, column=column))

    def read(self, rows: Rows[Any], request: SelectionRequest) -> list[tuple[bytes, bytes | None]]:
        """Return the JSON object of each row, with the value of the column, if there is one."""
        if request.column is None:
            return [(text, None) for text in read_json(rows, request)]
        return [*read_json_and_column(rows, request)]

    def build_request(self, actor: Actor, *, room: int | None = None, column: Any = None) -> SelectionRequest:
        key = (self.name, self.fields, column is None)
        if self.fields:
            room = conf.environment.contentapi_max_response
        return SelectionRequest(self.projection, key, self.size, lambda: self.selection, actor, {}, room, column)
