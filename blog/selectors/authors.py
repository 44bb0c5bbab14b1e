"""Reads of authors."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from blog import policy
from blog.models import Author
from contentapi.core.identity import Actor
from contentapi.core.pagination import Position, parse_id
from contentapi.core.policy import STAFF
from contentapi.projection import OLDEST_FIRST, Ordering, Rows, paginate, parametrised

AUTHOR_SORT_FIELDS = {"name": Ordering("name"), "createdAt": OLDEST_FIRST}


@parametrised(Author, pk=parse_id)
def select_author_by_id(_: Actor, *, pk: int) -> QuerySet[Author]:
    """Return the author with this id, or no author."""
    return Author.objects.filter(pk=pk)


def select_authors(actor: Actor, after: Position | None = None) -> Rows[Author]:
    """Return the authors in the order of their creation, from after a position."""
    return select_every_author(actor, after_pk=after and after.id)


@parametrised(Author)
def select_every_author(_: Actor, *, after_pk: int | None = None) -> QuerySet[Author]:
    authors = Author.objects.order_by("pk")
    return authors if after_pk is None else authors.filter(pk__gt=after_pk)


select_authors_page = paginate("authors", select_authors, OLDEST_FIRST)


def select_editable_authors(actor: Actor) -> QuerySet[Author]:
    """Return the authors that the actor may change."""
    return Author.objects.filter(policy.editable_authors(actor))


def select_writing_users() -> QuerySet[Any]:
    """Return the active users whose role may write posts, with or without an author profile."""
    return get_user_model().objects.filter(is_active=True, role__in=STAFF)


def find_author(actor: Actor, author_id: str) -> Author | None:
    return next(iter(select_author_by_id(actor, author_id).queryset()), None)
