"""Representations of resources: what of a row goes out over resource-oriented HTTP, as PostgreSQL's own bytes.

Each is a fragment of GraphQL, `fragment PostResource on Post` in schema/resources/post.graphql, which is bound to the
schema at start-up (`contentapi.rest.fragments`). So both faces have the same names, values and SQL.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from contentapi.conf import conf
from contentapi.core.entity_tags import UNCHANGING, Rendered, with_etag
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor
from contentapi.core.pagination import Page, render_page
from contentapi.projection import Projection, SelectedField, SelectionRequest, read_json, returning, select_instance

M = TypeVar("M", bound=Model)
VERSION = SelectedField("version", "version")


class Representation:
    """How a resource is written. `optional` is a field that is left out where it is null; it must stand last.

    What is `versioned` has a field `version`, which is read with a single resource and goes into its ETag alone.
    """

    def __init__(self, projection: Projection, *, optional: str | None = None, versioned: bool = False) -> None:
        self.projection = projection
        self.name = f"{projection.name}Resource"
        self.optional = optional
        self.versioned = versioned
        self.selection: tuple[SelectedField, ...] = ()
        self.size = 0

    def bind(self, selection: tuple[SelectedField, ...], size: int) -> None:
        """Take what the fragment selects; `size` is how many bytes it is written with. Raises `TypeError`."""
        if self.optional and selection[-1].key != self.optional:
            raise TypeError(f"{self.name} does not end with {self.optional}, which is left out where it is null.")
        self.selection, self.size = selection, size

    def each(self, rows: QuerySet[Any], actor: Actor, room: int | None = None) -> list[bytes]:
        """Return the JSON object of each row. Executes one statement.

        Raises `ResponseTooLarge` where they have more bytes than there is room for.
        """
        texts = self.texts(rows, actor, room=room)
        return [self.without_null(text) for text in texts] if self.optional else texts

    def texts(self, rows: QuerySet[Any], actor: Actor, *more: SelectedField, room: int | None = None) -> list[bytes]:
        return read_json(rows, self.request(actor, *more, room=room))

    def request(self, actor: Actor, *more: SelectedField, room: int | None = None) -> SelectionRequest:
        key = (self.name, len(more))
        return SelectionRequest(self.projection, key, self.size, lambda: self.selection + more, actor, {}, room)

    def without_null(self, text: bytes) -> bytes:
        end = f',"{self.optional}":null}}'.encode()  # a text could only end so inside of quotes
        return text.removesuffix(end) + b"}" if text.endswith(end) else text

    def one(self, rows: QuerySet[Any], actor: Actor) -> Rendered:
        """Return the JSON object of the one row, with its tag. Raises `NotFound` where there is none."""
        texts = self.texts(rows, actor, VERSION) if self.versioned else self.each(rows, actor)
        if not texts:
            raise NotFound(f"There is no {self.projection.name.lower()} with this id.")
        return split_version(texts[0]) if self.versioned else with_etag(texts[0], UNCHANGING)

    def of(self, instance: Model, actor: Actor) -> Rendered:
        """Return the JSON object of what has just been written, with its tag."""
        return self.one(select_instance(instance, actor), actor)

    def create(self, actor: Actor, write: Callable[[], M]) -> tuple[M, Rendered]:
        """Call a service that creates a row. Return the row, and its JSON object with its tag.

        The statement that inserts the row also selects the JSON, where that is possible.
        """
        with returning(self.request(actor)) as selection:
            row = write()
        text = selection.get_json(row)
        if text is None:
            return row, self.of(row, actor)
        version: int = row.version if self.versioned else UNCHANGING  # type: ignore[attr-defined]
        return row, with_etag(self.without_null(text) if self.optional else text, version)

    def page(self, rows: QuerySet[Any], page: Page, actor: Actor, *, within: QuerySet[Any] | None = None) -> Rendered:
        """Return a page of rows, as `contentapi.core.pagination.paged` does, of a limited size."""
        room = conf.environment.contentapi_max_response
        return render_page(rows, page, lambda window: self.each(window, actor, room), within=within)


def split_version(text: bytes) -> Rendered:
    """Take the version, which stands last, out of a JSON object and into its tag."""
    rest, _, version = text.rpartition(b',"version":"')
    return with_etag(rest + b"}", int(version.removesuffix(b'"}')))
