"""Representations of resources: what of a row goes out over resource-oriented HTTP, as PostgreSQL's own bytes.

Each is a fragment of GraphQL, `fragment PostResource on Post` in schema/resources/post.graphql, which is bound to the
schema at start-up (`contentapi.graphql.fragments`). So both faces have the same names, values and SQL.
"""

from typing import Any

from django.db.models import Model, QuerySet

from contentapi.errors import NotFound
from contentapi.identity import Actor
from contentapi.pagination import Page, paged
from contentapi.projection import Projection, Selected, project, row_of


class Representation:
    """How a resource is written. `optional` is a field that is left out where it is null; it must stand last."""

    def __init__(self, projection: Projection, *, optional: str | None = None) -> None:
        self.projection = projection
        self.name = f"{projection.name}Resource"
        self.optional = optional
        self.selection: tuple[Selected, ...] = ()
        self.size = 0

    def bind(self, selection: tuple[Selected, ...], size: int) -> None:
        """Take what the fragment selects; `size` is how many bytes it is written with. Raises `TypeError`."""
        if self.optional and selection[-1].key != self.optional:
            raise TypeError(f"{self.name} does not end with {self.optional}, which is left out where it is null.")
        self.selection, self.size = selection, size

    def each(self, rows: QuerySet[Any], actor: Actor) -> list[bytes]:
        """Return the JSON object of each row. Executes one statement."""
        texts = project(
            rows,
            self.projection,
            key=self.name,
            size=self.size,
            select=lambda: self.selection,
            actor=actor,
            variables={},
        )
        return [self.without_null(text) for text in texts] if self.optional else texts

    def without_null(self, text: bytes) -> bytes:
        end = f',"{self.optional}":null}}'.encode()  # a text could only end so inside of quotes
        return text.removesuffix(end) + b"}" if text.endswith(end) else text

    def one(self, rows: QuerySet[Any], actor: Actor) -> bytes:
        """Return the JSON object of the one row. Raises `NotFound` where there is none."""
        texts = self.each(rows, actor)
        if not texts:
            raise NotFound(f"There is no {self.projection.name.lower()} with this id.")
        return texts[0]

    def of(self, instance: Model, actor: Actor) -> bytes:
        """Return the JSON object of what has just been written."""
        return self.one(row_of(instance, actor), actor)

    def page(self, rows: QuerySet[Any], page: Page, actor: Actor, *, within: QuerySet[Any] | None = None) -> bytes:
        """Return a page of rows, as `contentapi.pagination.paged` does."""
        return paged(rows, page, lambda window: self.each(window, actor), within=within)
