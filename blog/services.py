"""Writes to the blog. Each function: find what the actor may see -> permit -> validate -> do -> return.

`expected_version` is what a client believes the version to be, alone or as the whole ETag: `7`, `7-c0ffee`,
`"7-c0ffee"`. Where it is given and is not the version, the change is a `Conflict`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from blog import selectors
from blog.models import MAX_BODY, MAX_TAG, MAX_TAGS, MAX_TITLE, Author, Comment, Post, PostStatus
from contentapi.core import policy
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, NotFound, Unauthenticated
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.projection import PreparedInsert, ReturningSelection

POSTS = PreparedInsert(Post, requiring="author")
MOVES: dict[str, set[PostStatus]] = {
    PostStatus.DRAFT: {PostStatus.SCHEDULED, PostStatus.PUBLISHED, PostStatus.ARCHIVED},
    PostStatus.SCHEDULED: {PostStatus.DRAFT, PostStatus.PUBLISHED},
    PostStatus.PUBLISHED: {PostStatus.DRAFT, PostStatus.ARCHIVED},
    PostStatus.ARCHIVED: {PostStatus.DRAFT},
}


def create_post(
    *,
    actor: Actor,
    title: str,
    body: str,
    author_id: str | None = None,
    tags: Sequence[str] | None = None,
    status: str | None = None,
    publish_at: datetime | None = None,
    returning: ReturningSelection | None = None,
) -> Post:
    """Write a post, the actor's own unless `author_id` names another author. None stands for what was not given."""
    status = status or PostStatus.DRAFT
    policy.permit(actor, policy.may_write_posts(actor), "write posts")
    policy.permit(actor, policy.may_move_posts(actor, PostStatus.DRAFT, status), f"make posts {status}")
    author = find_author(actor, author_id)
    values = clean_post(title=title, body=body, tags=tags or [])
    require_move(PostStatus.DRAFT, status, publish_at)
    now = datetime.now(UTC)
    values |= {"status": status, "publish_at": publish_at, "created_at": now, "updated_at": now}
    if author is None:
        with transaction.atomic():
            return POSTS.create(returning, author_id=own_author(actor), **values)
    try:
        return POSTS.create(returning, author_id=author, **values)
    except Author.DoesNotExist:
        raise no_such_author() from None


@transaction.atomic
def update_post(
    *, actor: Actor, post_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Post:
    """Change a post's title, body or tags: only what `changes` holds. Where all is as it was, nothing happens."""
    post = find_post_to_change(actor, post_id, "change posts")
    permit_update(actor, post)
    require_version("post", post.version, expected_version)
    return save_changes(post, new_text(post, changes))


@transaction.atomic
def move_post(
    *,
    actor: Actor,
    post_id: str,
    status: str,
    publish_at: datetime | None = None,
    expected_version: ExpectedVersion = None,
) -> Post:
    """Move a post into another state; into the one it is in, nothing happens. Raises `Conflict` for an illegal move."""
    post = find_post_to_change(actor, post_id, "change posts")
    permit_move(actor, post, status)
    require_version("post", post.version, expected_version)
    return save_changes(post, new_state(post, status, publish_at))


@transaction.atomic
def edit_post(
    *, actor: Actor, post_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Post:
    """Change a post and move it, both or neither: what `changes` holds of title, body, tags, status and publish_at."""
    moves = {name: value for name, value in changes.items() if name in ("status", "publish_at")}
    texts = {name: value for name, value in changes.items() if name not in moves}
    post = find_post_to_change(actor, post_id, "change posts")
    status = moves.get("status") or post.status
    if texts or not moves:
        permit_update(actor, post)
    if moves:
        permit_move(actor, post, status)
    require_version("post", post.version, expected_version)
    require_no_null({name: value for name, value in changes.items() if name != "publish_at"})
    values = new_text(post, texts) if texts else {}
    if moves:
        publish_at = moves.get("publish_at", post.publish_at if status == post.status else None)
        if status == post.status and (publish_at is None) != (post.publish_at is None):
            require_fitting_publish_at(status, publish_at)
        values |= new_state(post, status, publish_at)
    return save_changes(post, values)


def publish_due_posts(*, actor: Actor) -> Iterator[Post]:
    """Publish what is scheduled and due, the longest due first, each post in a transaction of its own.

    A post is looked at again once it is locked: one that has been taken back meanwhile, or published, is left alone.
    """
    policy.permit(actor, policy.may_publish_due_posts(actor), "publish what is due")
    for pk in list(Post.objects.due().order_by("publish_at", "id").values_list("pk", flat=True)):
        with transaction.atomic():
            post = Post.objects.due().filter(pk=pk).select_for_update().first()
            if post is not None:
                save_changes(post, new_state(post, PostStatus.PUBLISHED, None))
        if post is not None:
            yield post


def permit_update(actor: Actor, post: Post) -> None:
    policy.permit(actor, policy.may_write_posts_of(actor, post.author.user_id), "change this post")


def permit_move(actor: Actor, post: Post, status: str) -> None:
    may_move = policy.may_move_posts_of(actor, post.author.user_id, post.status, status)
    policy.permit(actor, may_move, f"make this {post.status} post {status}")


def new_text(post: Post, changes: Mapping[str, Any]) -> dict[str, Any]:
    require_no_null(changes)
    return clean_post(**{"title": post.title, "body": post.body, "tags": post.tags, **changes})


def new_state(post: Post, status: str, publish_at: datetime | None) -> dict[str, Any]:
    if status == post.status and publish_at in (None, post.publish_at):
        return {}
    require_move(post.status, status, publish_at)
    return {"status": status, "publish_at": publish_at}


@transaction.atomic
def delete_post(*, actor: Actor, post_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a post with its comments. Returns the id that it had."""
    post = find_post_to_change(actor, post_id, "delete posts")
    policy.permit(actor, policy.may_write_posts_of(actor, post.author.user_id), "delete this post")
    require_version("post", post.version, expected_version)
    deleted = str(post.pk)
    post.delete()
    return deleted


def find_post_to_change(actor: Actor, post_id: str, act: str) -> Post:
    """Return a post that the actor may see, with its author; locked until the transaction ends."""
    policy.require_credential(actor, act)
    posts = selectors.post_by_id(actor, post_id).queryset().select_related("author")
    return found_post(posts.select_for_update(of=("self",)).first())


def found_post(post: Post | None) -> Post:
    if post is None:
        raise NotFound("There is no post with this id.")
    return post


def require_no_null(changes: Mapping[str, Any]) -> None:
    problems = {name: ["This must not be null."] for name, value in changes.items() if value is None}
    if problems:
        raise Invalid(problems)


def save_changes(post: Post, values: Mapping[str, Any]) -> Post:
    changed = {name: value for name, value in values.items() if getattr(post, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(post, name, value)
        post.version += 1
        post.updated_at = timezone.now()
        post.save(update_fields=[*changed, "version", "updated_at"])
    return post


def find_author(actor: Actor, author_id: str | None) -> int | None:
    """Return the id of the author a post is to have; None for a profile of the actor's own that does not exist yet.

    For who may write everybody's posts nothing is looked up: whether there is such an author, the insertion sees.
    """
    if author_id is None:
        own = None if actor.user_id is None else selectors.profile_of(actor.user_id)
        return own.id if own else None
    if policy.may_write_everybodys_posts(actor):
        return parse_id(author_id)
    author = selectors.find_author(author_id)
    if author is None:
        raise no_such_author()
    policy.permit(actor, policy.may_write_posts_of(actor, author.user_id), "write posts of this author")
    return author.id


def no_such_author() -> Invalid:
    return Invalid({"authorId": ["There is no author with this id."]})


def own_author(actor: Actor) -> int:
    """Return the id of the actor's author profile; make it on first need, with the user's name and email."""
    if actor.user_id is None:
        raise Invalid({"authorId": ["Name the author: this credential belongs to no user."]})
    profile = selectors.profile_of(actor.user_id)
    return profile.id if profile else make_profile(actor.user_id)


def make_profile(user_id: int) -> int:
    user = get_user_model().objects.filter(pk=user_id).first()
    if user is None:  # a token lives on for minutes
        raise Unauthenticated("The user of this credential does not exist any more.")
    return Author.objects.get_or_create(user=user, defaults={"name": user.name, "email": user.email})[0].pk


def clean_post(*, title: str, body: str, tags: Sequence[str]) -> dict[str, Any]:
    """Return the text of a post as it is stored: title and tags without spaces at their ends. Raises `Invalid`."""
    title, tags = title.strip(), [tag.strip() for tag in tags]
    problems = {
        "title": title_problems(title),
        "body": [f"At most {MAX_BODY} characters, and this has {len(body)}."] if len(body) > MAX_BODY else [],
        "tags": tag_problems(tags),
    }
    found = {name: messages for name, messages in problems.items() if messages}
    if found:
        raise Invalid(found)
    return {"title": title, "body": body, "tags": tags}


def title_problems(title: str) -> list[str]:
    if not title:
        return ["This must not be empty."]
    return [f"At most {MAX_TITLE} characters, and this has {len(title)}."] if len(title) > MAX_TITLE else []


def tag_problems(tags: Sequence[str]) -> list[str]:
    problems = []
    if len(tags) > MAX_TAGS:
        problems.append(f"At most {MAX_TAGS} tags, and these are {len(tags)}.")
    if any(not 1 <= len(tag) <= MAX_TAG for tag in tags):
        problems.append(f"Each tag has from 1 to {MAX_TAG} characters.")
    if len(set(tags)) < len(tags):
        problems.append("No tag may stand there twice.")
    return problems


def require_move(old: str, new: str, publish_at: datetime | None) -> None:
    """Refuse a move between states that is not in `MOVES`, and a time of publication that does not fit the new one.

    Raises `Conflict` and `Invalid`. A post that is new begins as a draft.
    """
    if new not in MOVES[old] and (old, new) != (PostStatus.DRAFT, PostStatus.DRAFT):
        raise Conflict(f"A post that is {old} cannot become {new}.")
    require_fitting_publish_at(new, publish_at)


def require_fitting_publish_at(status: str, publish_at: datetime | None) -> None:
    """A scheduled post, and no other, has a time of publication, and it is in the future."""
    if status != PostStatus.SCHEDULED:
        if publish_at is not None:
            raise Invalid({"publishAt": ["Only a scheduled post has one."]})
    elif publish_at is None:
        raise Invalid({"publishAt": ["A scheduled post needs one."]})
    elif publish_at <= timezone.now():
        raise Invalid({"publishAt": ["This must be in the future."]})


@transaction.atomic
def add_comment(*, actor: Actor, post_id: str, body: str) -> Comment:
    """Comment on a post that the actor may see, as the actor."""
    policy.require_credential(actor, "comment")
    post = found_post(selectors.post_by_id(actor, post_id).queryset().first())
    policy.permit(actor, policy.may_comment(actor), "comment")
    if not body.strip():
        raise Invalid({"body": ["This must not be empty."]})
    return Comment.objects.create(post=post, author_id=own_author(actor), body=body)


@transaction.atomic
def delete_comment(
    *, actor: Actor, comment_id: str, post_id: str | None = None, expected_version: ExpectedVersion = None
) -> str:
    """Delete a comment, of this post where one is given. Returns the id that it had."""
    policy.require_credential(actor, "delete comments")
    comments = selectors.comment_by_id(actor, comment_id, post_id=post_id).queryset()
    comments = comments.select_related("author", "post__author")
    comment = comments.select_for_update(of=("self",)).first()
    if comment is None:
        raise NotFound("There is no comment with this id.")
    owner, post_owner = comment.author.user_id, comment.post.author.user_id
    policy.permit(actor, policy.may_delete_comment_of(actor, owner, post_owner), "delete this comment")
    require_version("comment", UNCHANGING, expected_version)
    deleted = str(comment.pk)
    comment.delete()
    return deleted
