"""Representations: the JSON of REST resources, as the bytes that PostgreSQL builds.

A representation is a GraphQL fragment such as `fragment PostResource on Post` in schema/resources/post.graphql, which
`contentapi.rest.fragments` binds to the schema at start-up. So both transports have the same names, values and SQL.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from django.db.models import Model

from contentapi.conf import conf
from contentapi.core.entity_tags import UNCHANGING
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor
from contentapi.http.response import OK, Response, build_tagged_response
from contentapi.projection import Projection, Rows
from contentapi.projection.inserts import register_inserted_row_selection
from contentapi.projection.querysets import select_instance
from contentapi.projection.selections import SelectedField
from contentapi.projection.statements import SelectionRequest, read_json, read_json_and_column
from contentapi.rest.pages import PageRequest, render_page

VERSION_COLUMN = "version"

M = TypeVar("M", bound=Model)


class Representation:
    """The JSON of a projected type as a resource.

    `optional` is a field that is left out if it is null; it must be the last one. A model that is `versioned` has a
    column `version`, which becomes part of the resource's entity tag. `noun` names the resource in messages.
    """

    def __init__(
        self, projection: Projection, *, noun: str = "", optional: str | None = None, versioned: bool = False
    ) -> None:
        self.projection = projection
        self.noun = noun or projection.name.lower()
        self.name = f"{projection.name}Resource"
        self.optional = optional
        self.versioned = versioned
        self.selection: tuple[SelectedField, ...] = ()
        self.size = 0

    def bind(self, selection: tuple[SelectedField, ...], size: int) -> None:
        """Set the selection of the fragment, and the length of its text in bytes. Raises `TypeError`."""
        if self.optional and selection[-1].key != self.optional:
            raise TypeError(f"The last field of {self.name} must be {self.optional}, which is left out if it is null.")
        self.selection, self.size = selection, size

    def one(self, rows: Rows[Any], actor: Actor, *, key: str = "id") -> Response:
        """Return the JSON object of the first row, with its entity tag. Raises `NotFound`, which names the key."""
        if self.versioned:
            versions = read_json_and_column(rows, self.build_request(actor, column=VERSION_COLUMN))
            found = next(((text, int(version)) for text, version in versions), None)
        else:
            found = next(((text, UNCHANGING) for text in self.render_rows(rows, actor)), None)
        if found is None:
            raise NotFound(f"There is no {self.noun} with this {key}.")
        text, version = found
        return build_tagged_response(text, version)

    def of(self, instance: Model, actor: Actor) -> Response:
        """Return the JSON object of an instance that the actor has just written, with its entity tag."""
        return self.one(select_instance(instance, actor), actor)

    def extend(self, instance: Model, actor: Actor, **members: Any) -> Response:
        """Return the JSON object of an instance that the actor has just written, with members that no row has."""
        found = msgspec.json.decode(self.of(instance, actor).body, type=dict[str, msgspec.Raw])
        return Response(OK, msgspec.json.encode({**found, **members}))

    def create(self, actor: Actor, write: Callable[[], M]) -> tuple[M, Response]:
        """Call a service that creates a row. Return the row, and its JSON object with its tag.

        The statement that inserts the row also selects the JSON, where that is possible.
        """
        with register_inserted_row_selection(self.build_request(actor)) as selection:
            row = write()
        text = selection.get_json(row)
        if text is None:
            return row, self.of(row, actor)
        version: int = row.version if self.versioned else UNCHANGING  # type: ignore[attr-defined]
        return row, build_tagged_response(text, version)

    def page(self, rows: Rows[Any], page: PageRequest, actor: Actor, *, within: Rows[Any] | None = None) -> Response:
        """Return a page of rows, as `contentapi.rest.pages.render_page` does. Raises `ResponseTooLarge`."""
        ranks: list[float] = []
        room = conf.environment.contentapi_max_response

        def render(window: Rows[Any]) -> list[bytes]:
            if window.order is None:
                return self.render_rows(window, actor, room)
            found = read_json_and_column(window, self.build_request(actor, room=room, column=window.order.column))
            ranks.extend(float(rank) for _, rank in found)
            return [text for text, _ in found]

        return render_page(rows, page, render, within=within, ranks=ranks)

    def render_rows(self, rows: Rows[Any], actor: Actor, room: int | None = None) -> list[bytes]:
        """Return the JSON object of each row. Executes one statement.

        Raises `ResponseTooLarge` if the objects have more than `room` bytes.
        """
        return read_json(rows, self.build_request(actor, room=room))

    def build_request(self, actor: Actor, *, room: int | None = None, column: str | None = None) -> SelectionRequest:
        return SelectionRequest(
            self.projection,
            key=(self.name, column),
            size=self.size,
            select=lambda: self.selection,
            actor=actor,
            variables={},
            room=room,
            column=column,
            last_is_optional=self.optional is not None,
        )
