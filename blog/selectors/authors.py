"""Reads of authors."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from blog import policy
from blog.models import Author
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import STAFF
from contentapi.projection import OLDEST_FIRST, ConnectionQuery, Ordering, Rows, build_ordered_connection, parametrised

AUTHOR_SORT_FIELDS = {"name": Ordering("name"), "createdAt": OLDEST_FIRST}


def select_author_by_id(actor: Actor, author_id: str) -> Rows[Author]:
    """Return the author with this id, or no author."""
    return select_author(actor, pk=parse_id(author_id))


@parametrised(Author)
def select_author(_: Actor, *, pk: int) -> QuerySet[Author]:
    return Author.objects.filter(pk=pk)


def select_authors(actor: Actor, after: Position | None = None) -> Rows[Author]:
    """Return the authors in the order of their creation, from after a position."""
    return select_authors_after(actor, after_pk=after.id if after else 0)


@parametrised(Author)
def select_authors_after(_: Actor, *, after_pk: int) -> QuerySet[Author]:
    return Author.objects.filter(pk__gt=after_pk).order_by("pk")


def build_authors_connection(actor: Actor, *, order_by: Ordering | None = None, **window: Any) -> ConnectionQuery:
    """Return a page of authors, from its start or its end; the oldest first without an order. Raises `Malformed`."""
    return build_ordered_connection("authors", select_every_author(actor), order_by or OLDEST_FIRST, **window)


@parametrised(Author)
def select_every_author(_: Actor) -> QuerySet[Author]:
    return Author.objects.all()


def select_editable_authors(actor: Actor) -> QuerySet[Author]:
    """Return the authors that the actor may change."""
    return Author.objects.filter(policy.editable_authors(actor))


def select_writing_users() -> QuerySet[Any]:
    """Return the active users whose role may write posts, with or without an author profile."""
    return get_user_model().objects.filter(is_active=True, role__in=STAFF)


def find_author(actor: Actor, author_id: str) -> Author | None:
    return select_author_by_id(actor, author_id).queryset().first()
