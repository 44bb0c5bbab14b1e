"""Insertions of posts, each in one statement if possible."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction

from blog.models import COVER, RENDERED, SUMMARIES, Author, OldSlug, Post, PostStatus
from blog.services import coauthors, slugs
from blog.services.authors import build_unknown_author_error, get_or_create_own_author_id, require_author
from contentapi.core.identity import Actor
from contentapi.db.citus.claims import is_distributed
from contentapi.db.ids import take_id
from contentapi.projection import PreparedInsert

IS_DISTRIBUTED = is_distributed()
POSTS = PreparedInsert(Post, requiring="author", unique="slug", reserved=OldSlug)
OWN_POSTS = PreparedInsert(Post, requiring="author", found_by="user", unique="slug", reserved=OldSlug)
# Most new posts are drafts that have none of these. Each value takes time, also null.
RARE = ("canonical_url", *SUMMARIES, *COVER, "publish_at", "published_at")
UNUSED = ("slug_is_chosen", *RARE, *RENDERED)
DRAFTS = PreparedInsert(Post, requiring="author", unique="slug", reserved=OldSlug, without=UNUSED)
OWN_DRAFTS = PreparedInsert(Post, requiring="author", found_by="user", unique="slug", reserved=OldSlug, without=UNUSED)


@transaction.atomic
def insert_joint_post(
    actor: Actor, author_id: int | None, coauthor_ids: Sequence[str], values: Mapping[str, Any]
) -> Post:
    """Insert a post with co-authors, of whom the author must not be one. Raises `Invalid` and `Conflict`."""
    author = get_or_create_own_author_id(actor) if author_id is None else author_id
    return insert_post(actor, author, {**values, "coauthor_ids": coauthors.validate_coauthors(coauthor_ids, author)})


def insert_post(actor: Actor, author_id: int | None, values: Mapping[str, Any]) -> Post:
    """Insert a post; without an author, it gets the actor's own author profile. Raises `Invalid` and `Conflict`."""
    if author_id is None:
        return insert_own_post(actor, values)
    slug = values["slug"] or slugs.make_slug(values["title"])
    if not slug:
        return insert_post_without_letters(author_id, values)
    try:
        return insert_row(values, author_id=author_id, slug=slug)
    except Author.DoesNotExist:
        if not values["slug"]:
            return insert_post_with_number(slug, {**values, "author_id": author_id})
    require_author(str(author_id))
    raise slugs.build_conflict(slug)


def insert_post_with_number(base: str, values: Mapping[str, Any]) -> Post:
    """Insert a post whose slug is taken: with the next number that no other transaction takes at the same moment."""
    while True:
        with suppress(Author.DoesNotExist):
            return insert_row(values, slug=slugs.find_free_slug(base, None))
        require_author(str(values["author_id"]))


@transaction.atomic
def insert_post_without_letters(author_id: int, values: Mapping[str, Any]) -> Post:
    """Insert a post whose slug is made of its id, which is known after the insertion."""
    try:
        post = insert_row(values, author_id=author_id)
    except Author.DoesNotExist:
        raise build_unknown_author_error() from None
    slugs.give_first_slug(post)
    return post if post.slug == f"post-{post.pk}" else Post.objects.get(pk=post.pk)  # to be selected again


def insert_own_post(actor: Actor, values: Mapping[str, Any]) -> Post:
    """Insert a post of the actor's own author profile, which an actor's first post creates."""
    slug = values["slug"] or slugs.make_slug(values["title"])
    if slug:
        with suppress(Author.DoesNotExist):
            return insert_row(values, user_id=actor.user_id, slug=slug)
    with transaction.atomic():
        return insert_post(actor, get_or_create_own_author_id(actor), values)


def insert_row(values: Mapping[str, Any], **others: Any) -> Post:
    """Insert a row by the shortest statement for its values. Raises `Author.DoesNotExist`."""
    row, is_own, is_chosen = {**values, **others}, "user_id" in others, bool(values["slug"])
    if is_chosen:
        row["slug_is_chosen"] = True
    if IS_DISTRIBUTED:
        return insert_distributed_row(row)
    if is_chosen or row["status"] != PostStatus.DRAFT or any(row.get(name) for name in RARE):
        return (OWN_POSTS if is_own else POSTS).create(**row)
    for name in RARE:
        row.pop(name, None)
    return (OWN_DRAFTS if is_own else DRAFTS).create(**row)


@transaction.atomic
def insert_distributed_row(row: dict[str, Any]) -> Post:
    """Insert a row of a distributed database, where no statement reads several shards and writes to one.

    Raises `Author.DoesNotExist`, also for a slug that is taken.
    """
    found = {"user": row.pop("user_id")} if "user_id" in row else {"pk": row.pop("author_id")}
    author, pk = Author.objects.only("pk").get(**found), take_id()
    if row["slug"] is not None and not slugs.claim_slug(row["slug"], pk):
        raise Author.DoesNotExist
    return Post.objects.create(pk=pk, author_id=author.pk, **row)
