from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from blog.models.announcements import announce_authors
from contentapi.db.ids import SharedIdField
from contentapi.db.placement import Forms
from contentapi.events.triggers import build_change_condition
from contentapi.types.own_fields import build_own_column, declare_own_fields

MAX_NAME = 150
AUTHOR_OWN = declare_own_fields("Author", schemas=["Author"])


def note_search_change(column: str, condition: str) -> Forms:
    """Return statements that note the id of an updated row, in a column of `SearchChange`, if the condition is met."""
    placed = {"post_id": "0", column: "NEW.id"}  # a change of an author is one of no post
    columns, values = ", ".join(placed), ", ".join(placed.values())
    statement = f"IF {condition} THEN INSERT INTO blog_searchchange "
    return f"{statement}({column}) VALUES (NEW.id); END IF;", f"{statement}({columns}) VALUES ({values}); END IF;"


class AuthorQuerySet(models.QuerySet["Author"]):
    def in_order_of(self, ids: Sequence[int]) -> list[Author]:
        """Return those of the authors that exist, in the order of their ids in the list."""
        found = self.in_bulk(list(ids)) if ids else {}
        return [found[pk] for pk in ids if pk in found]


class Author(models.Model):
    """The author of posts and comments: the public profile of a user, or an author without a user."""

    shard_key = ""  # each node has a copy
    guarded_columns = frozenset({"email"})
    id = SharedIdField("ID", primary_key=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="The account behind this author. Imported authors have none.",
    )
    name = models.CharField(max_length=MAX_NAME)
    bio = models.TextField(blank=True)
    avatar_url = models.URLField(blank=True, max_length=2000)
    email = models.EmailField(blank=True, help_text="Shown to editors and to the author only.")
    own = build_own_column()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[models.Manager[Author]] = AuthorQuerySet.as_manager()

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="blog_author_name_present")]
        indexes = [
            models.Index(fields=["name", "id"], name="blog_author_name"),  # import_posts looks authors up, too
            # Without the id: in a small table, PostgreSQL 18 would read this whole index to find one author by id.
            models.Index(fields=["created_at"], name="blog_author_created"),
        ]
        triggers = announce_authors(note_search_change("author_id", build_change_condition(["name"])))

    def __str__(self) -> str:
        return self.name
