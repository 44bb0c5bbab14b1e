"""Insertions of posts, each in one statement if possible."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from blog.models import COVER, RENDERED, SUMMARIES, Author, OldSlug, Post, PostStatus
from blog.services import authors, slugs
from contentapi.core.errors import Invalid
from contentapi.core.identity import Actor
from contentapi.db.distribution import get_backend
from contentapi.db.ids import take_id
from contentapi.projection import PreparedInsert

POSTS = PreparedInsert(Post, requiring="author", unique="slug", reserved=OldSlug)
OWN_POSTS = PreparedInsert(Post, requiring="author", found_by="user", unique="slug", reserved=OldSlug)
# Most new posts are drafts that have none of these. Each value takes time, also null.
RARE = ("canonical_url", *SUMMARIES, *COVER, "own", "publish_at", "published_at")
UNUSED = ("slug_is_chosen", *RARE, *RENDERED)
DRAFTS = PreparedInsert(Post, requiring="author", unique="slug", reserved=OldSlug, without=UNUSED)
OWN_DRAFTS = PreparedInsert(Post, requiring="author", found_by="user", unique="slug", reserved=OldSlug, without=UNUSED)


@transaction.atomic
def insert_joint_post(
    actor: Actor, author_id: int | None, coauthor_ids: Sequence[str], values: Mapping[str, Any]
) -> Post:
    """Insert a post with co-authors, of whom the author must not be one. Raises `Invalid` and `Conflict`."""
    author = authors.get_or_create_own_author_id(actor) if author_id is None else author_id
    return insert_post(actor, author, {**values, "coauthor_ids": authors.validate_coauthors(coauthor_ids, author)})


def insert_post(actor: Actor, author_id: int | None, values: Mapping[str, Any]) -> Post:
    """Insert a post; without an author, with the actor's own, perhaps new profile. Raises `Invalid` and `Conflict`."""
    owner = {"user_id": actor.user_id} if author_id is None else {"author_id": author_id}
    slug = values["slug"] or slugs.make_slug(values["title"])
    if not slug:
        return insert_post_without_letters(actor, author_id, values)
    post = insert_row(values, owner, slug)
    while post is None:  # until no other transaction takes the slug at the same moment
        if not has_author(owner):
            if author_id is not None:
                raise Invalid(authors.UNKNOWN_AUTHOR)
            with transaction.atomic():
                return insert_post(actor, authors.get_or_create_own_author_id(actor), values)
        if values["slug"]:
            raise slugs.build_conflict(slug)
        post = insert_row(values, owner, slugs.find_free_slug(slug, None))
    return post


@transaction.atomic
def insert_post_without_letters(actor: Actor, author_id: int | None, values: Mapping[str, Any]) -> Post:
    """Insert a post whose slug is made of its id, which is known after the insertion."""
    author = authors.get_or_create_own_author_id(actor) if author_id is None else author_id
    post = insert_row(values, {"author_id": author}, None)
    if post is None:
        raise Invalid(authors.UNKNOWN_AUTHOR)
    slugs.give_first_slug(post)
    return post if post.slug == f"post-{post.pk}" else Post.objects.get(pk=post.pk)  # to be selected again


def insert_row(values: Mapping[str, Any], owner: Mapping[str, int | None], slug: str | None) -> Post | None:
    """Insert a row by the shortest statement for its values. `owner` has the id of its author, or of their user.

    Returns None for an unknown author, and for a slug that is taken.
    """
    row = {**values, **owner, "slug": slug}
    if values["slug"]:
        row["slug_is_chosen"] = True
    return get_backend().insert(insert_in_one_statement, insert_in_steps)(row)


def has_author(owner: Mapping[str, int | None]) -> bool:
    if "user_id" in owner:
        return authors.AUTHOR_OF_USER.first(user=owner["user_id"]) is not None
    return authors.AUTHOR.first(id=owner["author_id"]) is not None


def insert_in_one_statement(row: dict[str, Any]) -> Post | None:
    is_own = "user_id" in row
    if row.get("slug_is_chosen") or row["status"] != PostStatus.DRAFT or any(map(row.get, RARE)):
        return (OWN_POSTS if is_own else POSTS).create(row)
    return (OWN_DRAFTS if is_own else DRAFTS).create(row)


@transaction.atomic
def insert_in_steps(row: dict[str, Any]) -> Post | None:
    """Insert a row of a distributed database, where no statement reads several shards and writes to one."""
    found = {"user": row.pop("user_id")} if "user_id" in row else {"pk": row.pop("author_id")}
    author, pk = Author.objects.only("pk").filter(**found).first(), take_id()
    if author is None or (row["slug"] is not None and not slugs.claim_slug(row["slug"], pk)):
        return None
    return Post.objects.create(pk=pk, author_id=author.pk, **row)
