"""Record which users have a post open in the admin, to show a notice to other editors. It never blocks a save.

The page of a post announces itself every 10 seconds. An announcement expires after 90 seconds.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Min
from django.utils import timezone

from blog import policy, selectors
from blog.models import CopyVersion, Post, PostPresence, WorkingCopy
from contentapi.auth.people import name_users
from contentapi.conf.timeouts import PRESENCE_LIFETIME
from contentapi.core.errors import require_found
from contentapi.core.identity import Actor
from contentapi.core.policy import require_credential, require_permission

MOST_PAGES = 50  # pages of one person. Further pages are not announced
MOST_NAMED = 10
ROWS_PER_STATEMENT = 500  # expired rows that one announcement deletes


class PresentPerson(NamedTuple):
    name: str
    since: datetime


class Save(NamedTuple):
    """The last change of a post or of its working copy, in words. The name is empty if no person made it."""

    name: str
    at: datetime | None
    action: str


def announce_page(*, actor: Actor, post_id: str, page: UUID) -> list[PresentPerson]:
    """Note that the actor has a post open in a page. Return the other people. Raises `NotFound` and `Forbidden`."""
    pk = require_writable_post(actor, post_id).pk
    user_id = actor.user_id
    if user_id is None:  # the operator, who has no pages
        return list_people(actor, pk)
    now = timezone.now()
    expired = PostPresence.objects.filter(seen_at__lt=now - PRESENCE_LIFETIME)
    PostPresence.objects.filter(pk__in=expired.values("pk")[:ROWS_PER_STATEMENT]).delete()
    pages = PostPresence.objects.filter(user=user_id)
    is_known = pages.filter(post_id=pk, page=page).update(seen_at=now)
    if not is_known and pages.count() < MOST_PAGES:
        presence = PostPresence(post_id=pk, user_id=user_id, page=page, opened_at=now, seen_at=now)
        PostPresence.objects.bulk_create([presence], ignore_conflicts=True)
    return list_people(actor, pk)


def forget_page(*, actor: Actor, post_id: str, page: UUID) -> None:
    """Note that a page is closed. Raises `NotFound` and `Forbidden`."""
    pk = require_writable_post(actor, post_id).pk
    PostPresence.objects.filter(user=actor.user_id, post_id=pk, page=page).delete()


def find_save(*, actor: Actor, post_id: str, opened: int, opened_copy: int | None = None) -> Save | None:
    """Return the last change of the text that a page shows; None if it opened these versions of the post and the copy.

    The version of no working copy is 0; None is that of a page that shows the post itself. Raises `NotFound` and
    `Forbidden`.
    """
    post = require_writable_post(actor, post_id)
    copy = WorkingCopy.objects.filter(pk=post.pk).only("version", "updated_at", "updated_by").first()
    if copy is not None and copy.version != opened_copy:
        return build_save(actor, copy.updated_by, copy.updated_at, "saved changes of this post")
    if copy is None and opened_copy and (ended := find_ended_copy(post)):
        user_id, at, action = ended
        return build_save(actor, user_id, at, f"{action or 'discarded'} the changes of this post")
    return None if post.version == opened else build_save(actor, post.changed_by, post.changed_at, "saved this post")


def find_ended_copy(post: Post) -> Any:
    """Return who ended the last working copy, when, and by which action; None if no copy has ended."""
    ended = CopyVersion.objects.filter(post=post.pk, pgh_label="delete").order_by("-version")
    return ended.values_list("pgh_context__changed_by", "pgh_created_at", "pgh_context__action").first()


def build_save(actor: Actor, user_id: int | None, at: datetime | None, action: str) -> Save:
    names = {actor.user_id: "You", None: ""}
    return Save(names.get(user_id) or name_users([user_id]).get(user_id or 0, ""), at, action)


def require_writable_post(actor: Actor, post_id: str) -> Post:
    """Return a post that the actor may change, without its body. Other actors get no notice."""
    action = "see who has this post open"
    require_credential(actor, action)
    post = require_found(selectors.posts.find_post(actor, post_id, "body", "body_html"), "post")
    require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), action)
    return post


def list_people(actor: Actor, pk: int) -> list[PresentPerson]:
    """Return the other people who have a post open, the first one first."""
    seen = PostPresence.objects.filter(post_id=pk, seen_at__gte=timezone.now() - PRESENCE_LIFETIME)
    others = seen.exclude(user=actor.user_id).values_list("user__name").annotate(since=Min("opened_at"))
    return [PresentPerson(name, since) for name, since in others.order_by("since")[:MOST_NAMED] if name]
