"""The actions of the permission table on the services. An action returns its result; an empty result counts as 404."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db.models import QuerySet

import blog.selectors
import blog.services
from blog import policy
from blog.models import Author, Comment, Post, PreviewLink, WorkingCopy
from contentapi.core.errors import ApiError
from contentapi.events.feed import select_events
from contentapi.events.webhooks import services as webhooks
from tests.contract.permissions import Outcome
from tests.contract.types import collect
from tests.contract.worlds import LATER, World, contains_row
from tests.webhook_rows import WEBHOOK


class Result(NamedTuple):
    """The outcome of an action, and the code and the message of the error, unless a response only lacks the object."""

    outcome: Outcome
    error: tuple[str, str] | None = None


def create_post(world: World, **values: Any) -> Post:
    author_id = None if world.is_own else str(world.target.author.pk)
    return blog.services.create_post(actor=world.actor, title="New", body="", author_id=author_id, **values)


def update_post(world: World, status: str) -> Post:
    return blog.services.edit_post(actor=world.actor, post_id=world.post_id(status), changes={"title": "New"})


def change_status(world: World, old: str, new: str) -> Post:
    publish_at = LATER if new == "scheduled" else None
    return blog.services.edit_post(
        actor=world.actor, post_id=world.post_id(old), changes={"status": new, "publish_at": publish_at}
    )


def save_working_copy(world: World, **changes: Any) -> WorkingCopy:
    return blog.services.save_working_copy(actor=world.actor, post_id=world.post_id("published"), **changes)


def publish_working_copy(world: World, status: str) -> Post:
    return blog.services.publish_working_copy(actor=world.actor, post_id=world.post_id(status))


def create_preview_link(world: World, **values: Any) -> PreviewLink:
    post_id = world.post_id("published")
    return blog.services.create_preview_link(actor=world.actor, post_id=post_id, **values).preview_link


def add_comment(world: World, status: str) -> Comment:
    return blog.services.add_comment(actor=world.actor, post_id=world.post_id(status), body="Well said.")


def select_post(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.posts.select_post_by_id(world.actor, world.post_id(status)).queryset()


def select_posts(world: World, status: str) -> QuerySet[Post]:
    return blog.selectors.posts.select_newest_posts(world.actor, status=status).queryset()


def select_author_with_email(world: World) -> QuerySet[Author]:
    author = blog.selectors.authors.select_author_by_id(world.actor, str(world.target.author.pk))
    return author.queryset().filter(policy.visible_author_emails(world.actor))


SERVICES: dict[str, Callable[[World], object]] = {
    "read a published post": lambda world: select_post(world, "published"),
    "list published posts": lambda world: contains_row(
        select_posts(world, "published"), world.target.posts["published"]
    ),
    "read an author": lambda world: blog.selectors.authors.select_author_by_id(
        world.actor, str(world.target.author.pk)
    ).exists(),
    "read a comment": lambda world: blog.selectors.comments.select_comment_by_id(
        world.actor, world.comment_id("published")
    ).exists(),
    "read a draft": lambda world: select_post(world, "draft"),
    "read a scheduled post": lambda world: select_post(world, "scheduled"),
    "read an archived post": lambda world: select_post(world, "archived"),
    "read the events of a draft": lambda world: select_events(
        world.actor, after=0, end=10**9, types=None, subject=int(world.post_id("draft"))
    ).exists(),
    "list drafts": lambda world: contains_row(select_posts(world, "draft"), world.target.posts["draft"]),
    "create a post": create_post,
    "create a published post": lambda world: create_post(world, status="published"),
    "create a scheduled post": lambda world: create_post(world, status="scheduled", publish_at=LATER),
    "update a published post": lambda world: update_post(world, "published"),
    "update a draft": lambda world: update_post(world, "draft"),
    "change the author of a post": lambda world: blog.services.edit_post(
        actor=world.actor, post_id=world.post_id("published"), changes={"author_id": str(world.other_author.pk)}
    ),
    "set the co-authors of a post": lambda world: blog.services.edit_post(
        actor=world.actor, post_id=world.post_id("published"), changes={"coauthor_ids": [str(world.other_author.pk)]}
    ),
    "create a post with co-authors": lambda world: create_post(world, coauthor_ids=[str(world.other_author.pk)]),
    "read a working copy": lambda world: blog.selectors.posts.select_working_copy(
        world.actor, world.post_id("published")
    ).exists(),
    "save a working copy": lambda world: save_working_copy(world, title="New"),
    "schedule a working copy": lambda world: save_working_copy(world, publish_at=LATER),
    "publish a working copy": lambda world: publish_working_copy(world, "published"),
    "publish the working copy of a draft": lambda world: publish_working_copy(world, "draft"),
    "create a preview link": create_preview_link,
    "create a preview link of the site": lambda world: create_preview_link(world, mode="site"),
    "revoke a preview link": lambda world: blog.services.revoke_preview_link(
        actor=world.actor, link_id=str(world.target.link.pk)
    ),
    "discard a working copy": lambda world: blog.services.discard_working_copy(
        actor=world.actor, post_id=world.post_id("published")
    ),
    "publish a draft": lambda world: change_status(world, "draft", "published"),
    "publish a published post": lambda world: change_status(world, "published", "published"),
    "schedule a draft": lambda world: change_status(world, "draft", "scheduled"),
    "unschedule a post": lambda world: change_status(world, "scheduled", "draft"),
    "unpublish a post": lambda world: change_status(world, "published", "draft"),
    "archive a published post": lambda world: change_status(world, "published", "archived"),
    "archive a draft": lambda world: change_status(world, "draft", "archived"),
    "take a post out of the archive": lambda world: change_status(world, "archived", "draft"),
    "delete a published post": lambda world: blog.services.delete_post(
        actor=world.actor, post_id=world.post_id("published")
    ),
    "delete a draft": lambda world: blog.services.delete_post(actor=world.actor, post_id=world.post_id("draft")),
    "comment on a published post": lambda world: add_comment(world, "published"),
    "comment on a draft": lambda world: add_comment(world, "draft"),
    "delete a comment": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("published")
    ),
    "delete a comment on a draft": lambda world: blog.services.delete_comment(
        actor=world.actor, comment_id=world.comment_id("draft")
    ),
    "read an author's email": select_author_with_email,
    "create a webhook": lambda world: webhooks.create_webhook(actor=world.actor, **WEBHOOK),
    **collect("SERVICES"),
}


def do_on_services(world: World, action: str) -> Result:
    try:
        return Result("ok" if SERVICES[action](world) else "404")
    except ApiError as refusal:
        return Result(str(refusal.status), (refusal.code, refusal.message))
