from __future__ import annotations

import re
from typing import Any

from django.apps import apps
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Exists, OuterRef

from contentapi.db.distribution import is_distributed

MAX_SLUG = 100
MAX_OLD_SLUGS = 200  # that a post lists; a file can name half of them
SLUG = re.compile(f"[a-z0-9-]{{1,{MAX_SLUG}}}")

TAKE_OVER = "(slug) DO UPDATE SET post_id = EXCLUDED.post_id"
ON_SHARDS = "DO NOTHING"  # another post cannot have the slug: it would have the claim
KEEP_OLD = """
        IF OLD.slug IS DISTINCT FROM NEW.slug AND OLD.published_at IS NOT NULL THEN
            DELETE FROM blog_oldslug WHERE slug = NEW.slug AND post_id = NEW.id;
            IF OLD.slug IS NOT NULL THEN
                INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, NEW.id)
                ON CONFLICT {conflict};
            END IF;
        END IF;"""
# A post that can be restored keeps its addresses, and no other post gets them meanwhile.
KEEP_DELETED = """
        IF OLD.slug IS NOT NULL AND OLD.published_at IS NOT NULL THEN
            INSERT INTO blog_oldslug (slug, post_id) VALUES (OLD.slug, OLD.id)
            ON CONFLICT {conflict};
        END IF;"""
KEEP_OLD_SLUG = KEEP_OLD.format(conflict=TAKE_OVER), KEEP_OLD.format(conflict=ON_SHARDS)
KEEP_SLUG_OF_DELETED = KEEP_DELETED.format(conflict=TAKE_OVER), KEEP_DELETED.format(conflict=ON_SHARDS)


class UniqueIndex(models.Index):
    """A unique index that can be created concurrently, as the index of a `UniqueConstraint` cannot."""

    def create_sql(self, *arguments: Any, **options: Any) -> Any:
        statement = super().create_sql(*arguments, **options)
        statement.template = statement.template.replace("CREATE INDEX", "CREATE UNIQUE INDEX", 1)
        return statement


class OldSlug(models.Model):
    """A slug that a post had while it was public, or that its imported file names. It keeps leading to the post.

    Triggers add it. The slugs of a deleted post stay reserved as long as the post can be restored, its last one too.
    A row says nothing while another post has its slug: that post was created while a file with the slug was imported.
    """

    shard_key = "post_id"
    slug = models.CharField(max_length=MAX_SLUG, primary_key=True)
    post_id = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["post_id"], name="blog_oldslug_post")]

    def __str__(self) -> str:
        return self.slug


def build_old_slugs() -> ArraySubquery:
    """Return an expression for the old slugs of a post, in alphabetical order, without those that a post has now.

    They are at most `MAX_OLD_SLUGS`; all of them lead to the post. A server of the release before, which restores a
    post, leaves its present slug among them.
    """
    present = apps.get_model("blog", "Post").objects.filter(slug=OuterRef("slug"))
    if is_distributed():  # no other post can have it, because of the claim
        present = present.filter(pk=OuterRef("post_id"))
    old = OldSlug.objects.filter(~Exists(present), post_id=OuterRef("pk"))
    return ArraySubquery(old.order_by("slug").values("slug")[:MAX_OLD_SLUGS])
