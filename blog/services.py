"""Writes of posts, comments and authors. Each function finds a row that the actor may see, checks the permission,
validates, writes and returns the model.

`expected_version` is a version that the caller has read, alone or as the whole entity tag: `7`, `7-c0ffee`,
`"7-c0ffee"`. If the row has another version, the function raises `Conflict`. None skips the comparison.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pghistory
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from blog import selectors
from blog.models import MAX_BODY, MAX_TAG, MAX_TAGS, MAX_TITLE, Author, Comment, CommentState, Post, PostStatus
from blog.selectors import AuthorRow
from contentapi.core import policy
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, Unauthenticated, require_found
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.monitoring.audit import Event, record_event
from contentapi.monitoring.figures import FIGURES
from contentapi.projection import PreparedInsert

POSTS = PreparedInsert(Post, requiring="author")
COMMENTS = PreparedInsert(Comment)
PROFILE = {"name", "bio", "avatar_url"}
IDENTITY = {"user", "email"}
TRANSITIONS: dict[str, set[PostStatus]] = {
    PostStatus.DRAFT: {PostStatus.SCHEDULED, PostStatus.PUBLISHED, PostStatus.ARCHIVED},
    PostStatus.SCHEDULED: {PostStatus.DRAFT, PostStatus.PUBLISHED},
    PostStatus.PUBLISHED: {PostStatus.DRAFT, PostStatus.ARCHIVED},
    PostStatus.ARCHIVED: {PostStatus.DRAFT},
}
POST_EVENTS = {
    PostStatus.DRAFT: Event.POST_UNPUBLISHED,
    PostStatus.SCHEDULED: Event.POST_SCHEDULED,
    PostStatus.PUBLISHED: Event.POST_PUBLISHED,
    PostStatus.ARCHIVED: Event.POST_ARCHIVED,
}
COMMENT_EVENTS = {
    CommentState.VISIBLE: Event.COMMENT_SHOWN,
    CommentState.HIDDEN: Event.COMMENT_HIDDEN,
    CommentState.DELETED: Event.COMMENT_DELETED,
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
) -> Post:
    """Create a post. None is the default: the actor's own author profile, no tags, a draft.

    Raises `Invalid`, and `Conflict` for the status archived.
    """
    status = status or PostStatus.DRAFT
    policy.require_permission(actor, policy.may_write_posts(actor), "write posts")
    policy.require_permission(
        actor, policy.may_transition_posts(actor, PostStatus.DRAFT, status), f"make posts {status}"
    )
    author = resolve_author_id(actor, author_id)
    values = validate_post(title=title, body=body, tags=tags or [])
    validate_transition(PostStatus.DRAFT, status, publish_at)
    now = datetime.now(UTC)
    published_at = now if status == PostStatus.PUBLISHED else None
    values |= {"status": status, "publish_at": publish_at, "published_at": published_at}
    values |= {"created_at": now, "updated_at": now}
    values |= {"changed_at": now, "changed_by": actor.user_id, "changed_with": actor.origin}
    post = insert_post(actor, author, values)
    if status != PostStatus.DRAFT:
        record_post_transition(actor, post.pk, "new", status)
    return post


def insert_post(actor: Actor, author_id: int | None, values: Mapping[str, Any]) -> Post:
    """Insert a post; without an author, it gets the actor's own author profile. Raises `Invalid`."""
    if author_id is None:
        with transaction.atomic():
            return POSTS.create(author_id=get_or_create_own_author_id(actor), **values)
    try:
        return POSTS.create(author_id=author_id, **values)
    except Author.DoesNotExist:
        raise build_unknown_author_error() from None


def record_post_transition(actor: Actor, pk: int, old: str, new: str) -> None:
    event = Event.POST_UNARCHIVED if old == PostStatus.ARCHIVED else POST_EVENTS[PostStatus(new)]
    states = {"from": str(old), "to": str(new)}
    record_event(event, actor, "post", pk, **states)
    if new == PostStatus.PUBLISHED:
        count_publication(actor)


def count_publication(actor: Actor) -> None:
    """Count a published post in the metrics, when the present transaction commits."""
    transaction.on_commit(partial(FIGURES.count, "contentapi_posts_published_total", actor.interface or "other"))


@transaction.atomic
def edit_post(
    *, actor: Actor, post_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Post:
    """Change the text and the status of a post together.

    `changes` may have title, body, tags, status, publish_at and, from an editor, published_at. A change to the present
    value has no effect; if nothing changes, the version stays. Raises `NotFound`, `Invalid`, and `Conflict` for another
    version or a transition that is not in `TRANSITIONS`.
    """
    state = {name: value for name, value in changes.items() if name in ("status", "publish_at")}
    text = {name: value for name, value in changes.items() if name in ("title", "body", "tags")}
    post = get_post_for_update(actor, post_id, "change posts")
    status = state.get("status") or post.status
    if text or not state:
        policy.require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), "change this post")
    if state:
        may_transition = policy.may_transition_posts_of(actor, post.author.user_id, post.status, status)
        policy.require_permission(actor, may_transition, f"make this {post.status} post {status}")
    if "published_at" in changes:
        policy.require_permission(
            actor, policy.may_manage_publication(actor), "change the time at which a post became public"
        )
    require_version("post", post.version, expected_version)
    require_no_null({name: value for name, value in changes.items() if name not in ("publish_at", "published_at")})
    values: dict[str, Any] = {}
    if text:
        values = validate_post(**{"title": post.title, "body": post.body, "tags": post.tags, **text})
    if state:
        publish_at = state.get("publish_at", post.publish_at if status == post.status else None)
        values |= build_state_changes(post, status, publish_at)
    if "published_at" in changes:
        validate_published_at(status, changes["published_at"])
        values["published_at"] = changes["published_at"]
    return save_changes(actor, post, values)


def publish_due_posts(*, actor: Actor) -> Iterator[Post]:
    """Publish the scheduled posts whose time has come, the earliest first; yield each one after its own transaction.

    Each post is read again under a lock. A post that another transaction has locked, unscheduled or published is
    skipped.
    """
    policy.require_permission(actor, policy.may_manage_publication(actor), "publish what is due")
    for pk in list(Post.objects.due().order_by("publish_at", "id").values_list("pk", flat=True)):
        with transaction.atomic():
            post = Post.objects.due().filter(pk=pk).select_for_update(skip_locked=True).first()
            if post is not None:
                save_changes(actor, post, build_state_changes(post, PostStatus.PUBLISHED, None))
        if post is not None:
            yield post


@transaction.atomic
def delete_post(*, actor: Actor, post_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a post with its comments. Returns its id. Raises `NotFound` and `Conflict`."""
    post = get_post_for_update(actor, post_id, "delete posts")
    policy.require_permission(actor, policy.may_write_posts_of(actor, post.author.user_id), "delete this post")
    require_version("post", post.version, expected_version)
    pk = post.pk
    with pghistory.context(changed_by=actor.user_id, changed_with=actor.origin):
        post.delete()
    states = {"from": str(post.status)}
    record_event(Event.POST_DELETED, actor, "post", pk, **states)
    return post_id


def get_post_for_update(actor: Actor, post_id: str, act: str) -> Post:
    """Return a post that the actor may see, with its author. It is locked until the transaction ends."""
    policy.require_credential(actor, act)
    posts = selectors.select_post_by_id(actor, post_id).queryset().select_related("author")
    return require_found(posts.select_for_update(of=("self",)).first(), "post")


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


def require_no_null(changes: Mapping[str, Any]) -> None:
    problems = {name: ["This must not be null."] for name, value in changes.items() if value is None}
    if problems:
        raise Invalid(problems)


def save_changes(actor: Actor, post: Post, values: Mapping[str, Any]) -> Post:
    """Save the values that differ from the present ones, with a new version and time. Saves nothing if none differ."""
    changed = {name: value for name, value in values.items() if getattr(post, name) != value}
    if changed:
        old_status = post.status
        for name, value in changed.items():
            setattr(post, name, value)
        post.version += 1
        post.updated_at = timezone.now()
        attribute_change(post, actor)
        post.save(update_fields=[*changed, "version", "updated_at", "changed_at", "changed_by", "changed_with"])
        if "status" in changed:
            record_post_transition(actor, post.pk, old_status, post.status)
    return post


def attribute_change(post: Post, actor: Actor) -> None:
    """State who makes the new version of a post, when and with which credential. The caller saves the post."""
    post.changed_at, post.changed_by, post.changed_with = timezone.now(), actor.user_id, actor.origin


def resolve_author_id(actor: Actor, author_id: str | None) -> int | None:
    """Return the id of a new post's author; None if the actor has no author profile yet.

    For an actor who may write posts of all authors, the insertion checks that the author exists.
    """
    if author_id is None:
        own = None if actor.user_id is None else selectors.get_author_of_user(actor.user_id)
        return own.id if own else None
    if policy.may_manage_posts_and_authors(actor):
        return parse_id(author_id)
    author = require_author(author_id)
    policy.require_permission(actor, policy.may_write_posts_of(actor, author.user_id), "write posts of this author")
    return author.id


def build_unknown_author_error() -> Invalid:
    return Invalid({"authorId": ["There is no author with this id."]})


def get_or_create_own_author_id(actor: Actor) -> int:
    """Return the id of the actor's author profile. The first call creates it, with the user's name and email."""
    if actor.user_id is None:
        raise Invalid({"authorId": ["Name the author: this credential belongs to no user."]})
    profile = selectors.get_author_of_user(actor.user_id)
    if profile is not None:
        return profile.id
    user = get_user_model().objects.filter(pk=actor.user_id).first()
    if user is None:  # a token can outlast its user by minutes
        raise Unauthenticated("The user of this credential does not exist any more.")
    return Author.objects.get_or_create(user=user, defaults={"name": user.name, "email": user.email})[0].pk


def validate_post(*, title: str, body: str, tags: Sequence[str]) -> dict[str, Any]:
    """Return the text of a post as it is stored: title and tags without spaces at their ends. Raises `Invalid`."""
    title, tags = title.strip(), [tag.strip() for tag in tags]
    problems = {
        "title": list_length_problems(title, MAX_TITLE) if title else ["This must not be empty."],
        "body": list_length_problems(body, MAX_BODY),
        "tags": list_tag_problems(tags),
    }
    found = {name: messages for name, messages in problems.items() if messages}
    if found:
        raise Invalid(found)
    return {"title": title, "body": body, "tags": tags}


def list_length_problems(text: str, most: int) -> list[str]:
    return [f"At most {most} characters are allowed (got {len(text)})."] if len(text) > most else []


def list_tag_problems(tags: Sequence[str]) -> list[str]:
    problems = []
    if len(tags) > MAX_TAGS:
        problems.append(f"At most {MAX_TAGS} tags are allowed (got {len(tags)}).")
    if any(not 1 <= len(tag) <= MAX_TAG for tag in tags):
        problems.append(f"Each tag must have from 1 to {MAX_TAG} characters.")
    if len(set(tags)) < len(tags):
        problems.append("Tags must be unique.")
    return problems


def validate_transition(old: str, new: str, publish_at: datetime | None) -> None:
    """Raise `Conflict` for a transition that is not in `TRANSITIONS`, `Invalid` for a wrong time of publication.

    A new post starts as a draft: the transition from draft to draft is allowed.
    """
    if new not in TRANSITIONS[old] and (old, new) != (PostStatus.DRAFT, PostStatus.DRAFT):
        raise Conflict(f"A post that is {old} cannot become {new}.")
    validate_publish_at(new, publish_at)


def validate_publish_at(status: str, publish_at: datetime | None) -> None:
    """Raise `Invalid` unless exactly a scheduled post has a time of publication, and the time is in the future."""
    if status != PostStatus.SCHEDULED:
        if publish_at is not None:
            raise Invalid({"publishAt": ["Only a scheduled post has a time of publication."]})
    elif publish_at is None:
        raise Invalid({"publishAt": ["A scheduled post needs a time of publication."]})
    elif publish_at <= timezone.now():
        raise Invalid({"publishAt": ["The time of publication must be in the future."]})


def validate_published_at(status: str, published_at: datetime | None) -> None:
    """Raise `Invalid` for a time in the future, and for a published post without a time."""
    if published_at is None:
        if status == PostStatus.PUBLISHED:
            raise Invalid({"publishedAt": ["A published post needs the time at which it was published."]})
    elif published_at > timezone.now():
        raise Invalid({"publishedAt": ["The time at which a post was published must not be in the future."]})


@transaction.atomic
def add_comment(*, actor: Actor, post_id: str, body: str, author_id: str | None = None) -> Comment:
    """Comment on a post that the actor may see. None is the actor's own author profile.

    Raises `NotFound` for the post and `Invalid` for the rest.
    """
    policy.require_credential(actor, "comment")
    post = require_found(selectors.select_post_by_id(actor, post_id).queryset().first(), "post")
    policy.require_permission(actor, policy.may_comment(actor), "comment")
    if author_id is not None:
        policy.require_permission(actor, policy.may_manage_comments(actor), "comment as this author")
    require_comment_body(body)
    author = get_or_create_own_author_id(actor) if author_id is None else require_author(author_id).id
    return COMMENTS.create(post_id=post.pk, author_id=author, body=body)


def require_author(author_id: str) -> AuthorRow:
    """Return the author with this id. Raises `Invalid`."""
    author = selectors.get_author(author_id)
    if author is None:
        raise build_unknown_author_error()
    return author


def require_comment_body(body: str) -> None:
    if not body.strip():
        raise Invalid({"body": ["This must not be empty."]})


@transaction.atomic
def delete_comment(
    *, actor: Actor, comment_id: str, post_id: str | None = None, expected_version: ExpectedVersion = None
) -> str:
    """Delete a visible comment; with `post_id`, only a comment of this post. Returns its id. Raises `NotFound`.

    `blog.moderation` can restore it for some time.
    """
    comment = get_comment_for_update(actor, comment_id, "delete comments", post_id=post_id)
    owner, post_owner = comment.author.user_id, comment.post.author.user_id
    policy.require_permission(actor, policy.may_delete_comment_of(actor, owner, post_owner), "delete this comment")
    require_version("comment", UNCHANGING, expected_version)
    change_comment_state([comment], CommentState.DELETED, actor)
    return comment_id


def get_comment_for_update(actor: Actor, comment_id: str, act: str, *, post_id: str | None = None) -> Comment:
    """Return a comment that the actor may see, with its author and post. It is locked until the transaction ends."""
    policy.require_credential(actor, act)
    comments = selectors.select_comment_by_id(actor, comment_id, post_id=post_id).queryset()
    comments = comments.select_related("author", "post__author")
    return require_found(comments.select_for_update(of=("self",)).first(), "comment")


def change_comment_state(comments: Collection[Comment], state: CommentState, actor: Actor) -> None:
    """Save a new state of some comments, with who changed it, when and with which credential."""
    ids = [comment.pk for comment in comments]
    Comment.objects.filter(pk__in=ids).update(
        state=state,
        state_changed_at=timezone.now(),
        state_changed_by=actor.user_id,
        state_changed_with=actor.origin,
    )
    for comment in comments:
        event = Event.COMMENT_RESTORED if comment.state == CommentState.DELETED else COMMENT_EVENTS[state]
        states = {"from": str(comment.state), "to": str(state)}
        record_event(event, actor, "comment", comment.pk, post_id=comment.post_id, **states)


def create_author(*, actor: Actor, author: Author) -> Author:
    """Create an author. Raises `Invalid`."""
    policy.require_permission(actor, policy.may_manage_posts_and_authors(actor), "create authors")
    return save_author(author)


@transaction.atomic
def edit_author(*, actor: Actor, author_id: str, changes: Mapping[str, Any]) -> Author:
    """Change an author: the fields in `PROFILE`, and those in `IDENTITY` for an actor who may write all authors.

    Raises `NotFound` and `Invalid`.
    """
    policy.require_credential(actor, "change authors")
    authors = selectors.select_author_by_id(actor, author_id).queryset()
    author = require_found(authors.select_for_update(of=("self",)).first(), "author")
    policy.require_permission(actor, policy.may_edit_author(actor, author.user_id), "change this author")
    if IDENTITY & changes.keys():
        may_manage = policy.may_manage_posts_and_authors(actor)
        policy.require_permission(actor, may_manage, "change the user or email of an author")
    for name in (PROFILE | IDENTITY) & changes.keys():
        setattr(author, name, changes[name])
    return save_author(author)


def save_author(author: Author) -> Author:
    try:
        author.full_clean()
    except ValidationError as error:
        raise Invalid(error.message_dict) from None
    author.save()
    return author


@transaction.atomic
def delete_author(*, actor: Actor, author_id: str) -> str:
    """Delete an author with their comments. Returns its id. Raises `NotFound`, and `Conflict` if there are posts."""
    policy.require_permission(actor, policy.may_manage_posts_and_authors(actor), "delete authors")
    authors = selectors.select_author_by_id(actor, author_id).queryset()
    author = require_found(authors.select_for_update(of=("self",)).first(), "author")
    pk = author.pk
    try:
        author.delete()
    except ProtectedError:
        raise Conflict(f"{author.name} has posts. Delete them first.") from None
    record_event(Event.AUTHOR_DELETED, actor, "author", pk)
    return author_id
