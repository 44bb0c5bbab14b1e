"""Working copies: the texts of the next versions of posts, which are not public yet.

A working copy is saved, scheduled, published or discarded. Each function first locks the post, so that the copy and its
post do not change at the same time.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from blog import policy
from blog.models import CONTENT, POST_OWN, Post, PostStatus, PostVersion, WorkingCopy
from blog.models.audit import Audit
from blog.selectors.posts import find_locked_scheduler
from blog.services import slugs
from blog.services.posts import build_state_changes, get_post_for_update, merge_content, save_changes
from blog.services.validation import require_future, require_no_null, validate_post
from contentapi.core.entity_tags import ExpectedVersion, parse_version, require_version
from contentapi.core.errors import Conflict, Invalid, VersionConflict, require_row
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.db.ids import take_id
from contentapi.events.triggers import attribute_changes
from contentapi.worker.items import try_item

NAME = "working copy"
SCHEDULABLE = (PostStatus.PUBLISHED, PostStatus.SCHEDULED)


class Due(NamedTuple):
    """A post that was due, or whose working copy was, and why the post could not take the text, or an empty string."""

    post: Post
    is_copy: bool = False
    problem: str = ""


@transaction.atomic
def save_working_copy(
    *,
    actor: Actor,
    post_id: str,
    base_version: str | None = None,
    expected_version: ExpectedVersion = None,
    **changes: Any,
) -> WorkingCopy:
    """Save changes of a post that are not public yet: fields of the content, own fields, and `publish_at`.

    Missing fields keep the value of the working copy; the first save starts with the values of the post. `base_version`
    is the version of the post that the changes contain: by default the present one, and then that of the save before.
    Raises `NotFound`, `Invalid`, and `Conflict` for another version or a slug that is taken.
    """
    post = get_post_for_update(actor, post_id, "change posts")
    owner_id = post.author.user_id
    require_permission(actor, policy.may_write_posts_of(actor, owner_id), "change this post")
    stored = WorkingCopy.objects.filter(pk=post.pk).first()
    if stored is not None:  # the result has the fields that others have changed
        may_see = policy.may_see_history_of(actor, owner_id)
        require_permission(actor, may_see, "see the working copy of this post")
    require_copy_version(stored, expected_version)
    changes = POST_OWN.gather(changes)
    require_no_null(changes)
    copy = stored or WorkingCopy(post=post, base_version=post.version)
    before = read_text(copy, post)
    copy.content |= {"slug_is_chosen": before.slug_is_chosen} | merge_content(before, changes)
    if "publish_at" in changes and changes["publish_at"] != copy.publish_at:
        copy.publish_at, copy.scheduled_by = changes["publish_at"], actor.user_id
    if copy.publish_at is not None:
        may_publish = policy.may_transition_posts_of(actor, owner_id, PostStatus.SCHEDULED, PostStatus.PUBLISHED)
        require_permission(actor, may_publish, "schedule the changes of this post")
    if changes.get("publish_at") is not None:
        validate_copy_time(post, changes["publish_at"])
    if base_version is not None:
        copy.base_version = parse_base_version(post, base_version)
    copy.version, copy.updated_at, copy.updated_by = take_id(), timezone.now(), actor.user_id
    copy.is_new = stored is None
    copy.save(force_insert=copy.is_new, force_update=not copy.is_new)
    return copy


def find_visible_copy(actor: Actor, post: Post | None) -> WorkingCopy | None:
    """Return the working copy of a post, if there is one and the actor may see it."""
    if post is None or not policy.may_see_history_of(actor, post.author.user_id):
        return None
    copy: WorkingCopy | None = getattr(post, "working_copy", None)  # a statement for each object of the post
    return copy


def require_copy_version(copy: WorkingCopy | None, expected: ExpectedVersion) -> None:
    """Raise `VersionConflict` unless the working copy has the expected version. Version 0 is that of no copy."""
    if copy is not None:
        require_version(NAME, copy.version, expected)
        return
    try:
        require_version(NAME, 0, expected)
    except VersionConflict:
        raise VersionConflict(f"Version conflict: there is no {NAME}.") from None


def read_text(copy: WorkingCopy, post: Post) -> Post:
    """Return a post, not to be saved, with the text of its working copy. What this does not have yet is the post's."""
    text = {name: copy.content.get(name, getattr(post, name)) for name in (*CONTENT, "slug_is_chosen")}
    return Post(pk=post.pk, published_at=post.published_at, **text)


def validate_copy_time(post: Post, publish_at: datetime) -> None:
    """Raise `Invalid` unless a working copy of this post may be published at this time."""
    if post.status not in SCHEDULABLE:
        raise Invalid({"publishAt": ["Only the changes of a published or scheduled post can be scheduled."]})
    require_future(publish_at)


def parse_base_version(post: Post, base_version: str) -> int:
    """Return the version that a client names. Raises `VersionConflict` if the post never had it."""
    number = int(parse_version(base_version) or 0)
    if not 1 <= number <= post.version:
        raise VersionConflict(f"Version conflict: the post is at version {post.version}.")
    return number


@transaction.atomic
def publish_working_copy(*, actor: Actor, post_id: str, expected_version: ExpectedVersion = None) -> Post:
    """Make the working copy the text of its post, as one version, and delete it. The status of the post stays.

    Raises `NotFound`, `Invalid`, and `Conflict` for another version, a slug that is taken, or a post whose text has
    changed since the version on which the working copy is based.
    """
    post = get_post_for_update(actor, post_id, "change posts")
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    require_permission(actor, may_publish, "publish the changes of this post")
    copy = require_row(WorkingCopy.objects.filter(pk=post.pk), NAME)
    require_copy_version(copy, expected_version)
    return apply_working_copy(actor, post, copy)


def apply_working_copy(actor: Actor, post: Post, copy: WorkingCopy) -> Post:
    """Write the text of a working copy to its post, and delete the copy. The caller has locked the post."""
    require_present_base(post, copy)
    after = read_text(copy, post)
    values = validate_post({name: getattr(after, name) for name in CONTENT}, body_before=after.body)
    is_stated = post.published_at is not None or not slugs.follows_title(after)
    if is_stated:
        slugs.require_free_slug(values["slug"], post.pk)
    save_changes(actor, post, values | {"slug_is_chosen": after.slug_is_chosen}, is_slug_stated=is_stated)
    delete_copy(actor, copy, "published")
    Audit.POST_COPY_PUBLISHED.record(actor, "post", post.pk, version=post.version)
    return post


def delete_copy(actor: Actor, copy: WorkingCopy, action: str) -> None:
    """Delete a working copy. The history keeps it, with the action and the person."""
    with attribute_changes(actor, action=action):
        copy.delete()


def require_present_base(post: Post, copy: WorkingCopy) -> None:
    """Raise `VersionConflict` if the text of a post has changed since the version on which a working copy is based."""
    if has_changed_since(post, copy.base_version):
        raise VersionConflict(
            f"Version conflict: the text of the post has changed since version {copy.base_version}, on which the"
            f" {NAME} is based. The post is at version {post.version}."
        )


def has_changed_since(post: Post, version: int) -> bool:
    """Return whether the content of a post differs from that of an earlier version. A new status is no difference."""
    if post.version == version:
        return False
    base = PostVersion.objects.filter(id=post.pk, version=version).order_by("-pgh_id").values(*CONTENT).first()
    return base is None or any(base[name] != getattr(post, name) for name in CONTENT)


@transaction.atomic
def discard_working_copy(*, actor: Actor, post_id: str, expected_version: ExpectedVersion = None) -> Post:
    """Delete the working copy of a post. Returns the post. Raises `NotFound` and `Conflict`."""
    post = get_post_for_update(actor, post_id, "change posts")
    require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), "change this post")
    copy = require_row(WorkingCopy.objects.filter(pk=post.pk), NAME)
    require_copy_version(copy, expected_version)
    delete_copy(actor, copy, "discarded")
    Audit.POST_COPY_DISCARDED.record(actor, "post", post.pk)
    return post


def publish_due(*, actor: Actor) -> Iterator[Due]:
    """Publish the posts, and then the working copies, whose time has come, the earliest first.

    Yields each after its own transaction. One that another transaction has locked or changed, and one that a locked
    person has scheduled, is skipped. A working copy that cannot be published stays without a time.
    """
    require_permission(actor, policy.may_manage_publication(actor), "publish what is due")
    copies = WorkingCopy.objects.filter(publish_at__lte=timezone.now())
    for rows, name, publish in (
        (Post.objects.due(), "post", publish_due_post),
        (copies, "the working copy of post", publish_due_copy),
    ):
        for pk in list(rows.order_by("publish_at", "pk").values_list("pk", flat=True)):
            due = try_item("publication", f"{name} {pk}", publish, actor, pk)
            if due is not None:
                yield due


@transaction.atomic
def publish_due_post(actor: Actor, pk: int) -> Due | None:
    post = Post.objects.due().filter(pk=pk).select_for_update(skip_locked=True).first()
    if post is None or find_locked_scheduler(post):
        return None
    return Due(save_changes(actor, post, build_state_changes(post, PostStatus.PUBLISHED, None)))


@transaction.atomic
def publish_due_copy(actor: Actor, pk: int) -> Due | None:
    """Publish a working copy that is due; if its post is not public, or has changed, remove its time."""
    post = Post.objects.filter(pk=pk).select_for_update(skip_locked=True).first()
    copy = WorkingCopy.objects.filter(pk=pk, publish_at__lte=timezone.now()).first()
    if post is None or copy is None or find_locked_scheduler(copy):  # perhaps another worker was faster
        return None
    problem = "" if post.status in SCHEDULABLE else f"The post is {post.status}."
    if not problem:
        try:
            with transaction.atomic():
                return Due(apply_working_copy(actor, post, copy), is_copy=True)
        except (Conflict, Invalid) as error:
            problem = error.message
    WorkingCopy.objects.filter(pk=post.pk).update(publish_at=None)
    Audit.POST_COPY_REFUSED.record(actor, "post", post.pk, status=str(post.status))
    return Due(post, is_copy=True, problem=problem)
