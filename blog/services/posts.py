"""Writes of posts."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from blog import policy, selectors
from blog.models import CONTENT, POST_OWN, RENDERED_TEXTS, Post, PostStatus
from blog.models.audit import Audit
from blog.services import authors, images, insertions, renderings, slugs
from blog.services.validation import (
    require_no_null,
    validate_post,
    validate_publish_at,
    validate_published_at,
    validate_transition,
)
from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import require_row
from contentapi.core.identity import Actor
from contentapi.core.policy import require_credential, require_permission
from contentapi.events.declarations import refuse_required
from contentapi.events.triggers import attribute_changes, silence
from contentapi.monitoring.figures import FIGURES


def create_post(
    *,
    actor: Actor,
    author_id: str | None = None,
    coauthor_ids: Sequence[str] | None = None,
    status: str | None = None,
    publish_at: datetime | None = None,
    **content: Any,
) -> Post:
    """Create a post with the fields `CONTENT_FIELDS` and own fields. None is the default: the actor's own author
    profile, no co-authors, a draft.

    Raises `Invalid`, and `Conflict` for the status archived.
    """
    status = status or PostStatus.DRAFT
    require_permission(actor, policy.may_write_posts(actor), "write posts")
    require_permission(actor, policy.may_transition_posts(actor, PostStatus.DRAFT, status), f"make posts {status}")
    if coauthor_ids:
        authors.require_author_permissions(actor, {"coauthor_ids": coauthor_ids})
    author = authors.resolve_author_id(actor, author_id)
    content = POST_OWN.gather(content)
    if content.get("own"):
        content["own"] = POST_OWN.apply({}, content["own"])
    values = validate_post(content)
    images.require_cover(values["cover_id"])
    validate_transition(PostStatus.DRAFT, status, publish_at)
    now = datetime.now(UTC)
    published_at = now if status == PostStatus.PUBLISHED else None
    values |= {"status": status, "publish_at": publish_at, "published_at": published_at, "created_at": now}
    values |= {"updated_at": now, "changed_at": now, "changed_by": actor.user_id, "changed_with": actor.origin}
    if status == PostStatus.PUBLISHED:
        values |= renderings.build_rendering(values["body"], values["excerpt"], version=1)
    if coauthor_ids:
        post = insertions.insert_joint_post(actor, author, coauthor_ids, values)
    else:
        post = insertions.insert_post(actor, author, values)
    if status != PostStatus.DRAFT:
        record_post_transition(actor, post.pk, "new", status)
    return post


def record_post_transition(actor: Actor, pk: int, old: str, new: str) -> None:
    back = Audit.POST_UNARCHIVED if old == PostStatus.ARCHIVED else Audit.POST_UNPUBLISHED
    event = back if new == PostStatus.DRAFT else Audit(f"post.{new}")
    event.record(actor, "post", pk, **{"from": str(old), "to": str(new)})
    if new == PostStatus.PUBLISHED:
        count_publication(actor)


def count_publication(actor: Actor) -> None:
    """Count a published post in the metrics, when the present transaction commits."""
    transaction.on_commit(partial(FIGURES.count, "contentapi_posts_published_total", actor.interface or "other"))


@transaction.atomic
def edit_post(
    *, actor: Actor, post_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Post:
    """Change the content and the status of a post together.

    `changes` may have fields of the content, own fields, by name or together as `own`, status, publish_at and, from an
    editor, published_at, author_id and coauthor_ids. The history, and no client, states slug_is_chosen beside a slug,
    and body_before: a text that may keep its images. A change to the present value has no effect; if nothing changes,
    the version stays. Raises `NotFound`, `Invalid`, and `Conflict` for another version, a slug that is taken, or a
    transition that is not in `TRANSITIONS`.
    """
    changes = POST_OWN.gather(changes)
    state = {name: value for name, value in changes.items() if name in ("status", "publish_at")}
    content = {name: value for name, value in changes.items() if name in CONTENT}
    post = get_post_for_update(actor, post_id, "change posts")
    status = state.get("status") or post.status
    if content or not state:
        require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), "change this post")
    if state:
        may_transition = policy.may_transition_posts_of(actor, post.author.user_id, post.status, status)
        require_permission(actor, may_transition, f"make this {post.status} post {status}")
    if "published_at" in changes:
        require_permission(actor, policy.may_manage_publication(actor), "change the time at which a post became public")
    authors.require_author_permissions(actor, changes)
    require_version("post", post.version, expected_version)
    require_no_null(changes)
    values: dict[str, Any] = {}
    if content:
        values = merge_content(post, changes)
    values |= authors.validate_author_changes(actor, post, changes)
    if state:
        publish_at = state.get("publish_at", post.publish_at if status == post.status else None)
        values |= build_state_changes(post, status, publish_at)
    if "published_at" in changes:
        validate_published_at(status, changes["published_at"])
        values["published_at"] = changes["published_at"]
    return save_changes(actor, post, values, is_slug_stated=bool(content.get("slug")))


def merge_content(before: Post, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a post after these changes, perhaps with `slug_is_chosen`. Raises `Invalid`, `Conflict`."""
    content = {name: changes.get(name, getattr(before, name)) for name in CONTENT}
    if "own" in changes:
        content["own"] = POST_OWN.apply(before.own, changes["own"])
    values = validate_post(content, body_before=changes.get("body_before", before.body))
    images.require_cover(values["cover_id"], before.cover_id)
    return values | choose_slug(before, changes, values["title"])


def choose_slug(post: Post, changes: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the slug after these changes, stated or made from the title, and whether a person has chosen it.

    The slug follows the title until the post first becomes public, unless a person has chosen it. Who states the slug
    that the title has made, as a client does that sends back what it has read, has chosen nothing. Raises `Conflict`.
    """
    if changes.get("slug"):
        slug = slugs.require_free_slug(changes["slug"].strip(), post.pk)
        after = Post(pk=post.pk, title=title, slug=slug, slug_is_chosen=post.slug_is_chosen)
        is_chosen = slug != post.slug or not slugs.follows_title(after)
        return {"slug": slug, "slug_is_chosen": changes.get("slug_is_chosen", is_chosen)}
    if "slug" not in changes and (title == post.title or post.published_at or not slugs.follows_title(post)):
        return {"slug": post.slug}
    slug = slugs.find_free_slug(slugs.make_slug(title) or f"post-{post.pk}", post.pk)
    return {"slug": slug, "slug_is_chosen": False}


@transaction.atomic
def delete_post(*, actor: Actor, post_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a post with its comments. Returns its id. Raises `NotFound` and `Conflict`."""
    post = get_post_for_update(actor, post_id, "delete posts")
    require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), "delete this post")
    require_version("post", post.version, expected_version)
    pk = post.pk
    with attribute_changes(actor), silence("comment"), refuse_required(actor, "Post", pk):
        post.delete()
    Audit.POST_DELETED.record(actor, "post", pk, **{"from": str(post.status)})
    return post_id


def get_post_for_update(actor: Actor, post_id: str, action: str) -> Post:
    """Return a post that the actor may see, with its author. It is locked until the transaction ends."""
    require_credential(actor, action)
    posts = selectors.posts.select_post_by_id(actor, post_id).queryset().select_related("author").defer(*RENDERED_TEXTS)
    post = require_row(posts.select_for_update(of=("self",)), "post")
    if post.slug is None:
        slugs.give_first_slug(post)
    return post


def build_state_changes(post: Post, status: str, publish_at: datetime | None) -> dict[str, Any]:
    """Return the new status and time of publication; nothing if they are the present ones."""
    if status == post.status:
        if publish_at == post.publish_at:
            return {}
        if publish_at is None or post.publish_at is None:
            validate_publish_at(status, publish_at)
    validate_transition(post.status, status, publish_at)
    changes = {"status": status, "publish_at": publish_at}
    if status == PostStatus.PUBLISHED and post.published_at is None:
        changes["published_at"] = timezone.now()
    return changes


def save_changes(actor: Actor, post: Post, values: Mapping[str, Any], *, is_slug_stated: bool = False) -> Post:
    """Save the values that differ from the present ones, with a new version and time. Saves nothing if none differ.

    If another transaction takes the slug at the same moment, a stated one is a `Conflict`. Any other gets a number.
    """
    changed = {name: value for name, value in values.items() if getattr(post, name) != value}
    old_status = post.status
    for name, value in changed.items():
        setattr(post, name, value)
    if changed.keys() == {"slug_is_chosen"}:  # no version: nobody would see a difference
        post.save(update_fields=changed)
    elif changed:
        post.version += 1
        post.updated_at = timezone.now()
        attribute_change(post, actor)
        fields = [*changed, "version", "updated_at", "changed_at", "changed_by", "changed_with"]
        fields += renderings.adapt_rendering(post, changed, post.version - 1)
        if "slug" in changed and not is_slug_stated:
            slugs.save_with_free_slug(post, slugs.make_base(post), update_fields=fields)
        else:
            with slugs.refuse_taken_slug(post.slug, post.pk) if "slug" in changed else nullcontext():
                post.save(update_fields=fields)
        if "status" in changed:
            record_post_transition(actor, post.pk, old_status, post.status)
    return post


def attribute_change(post: Post, actor: Actor) -> None:
    """State who makes the new version of a post, when and with which credential. The caller saves the post."""
    post.changed_at, post.changed_by, post.changed_with = timezone.now(), actor.user_id, actor.origin
