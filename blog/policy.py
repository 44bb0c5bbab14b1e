"""The rules for posts, their history, comments, authors, images and imports.

The API shows a comment to everybody or to nobody: a visible comment on a visible post. The admin shows the others to
those who moderate them. Users who write posts or images can use all images; other callers can only see the images of
posts that are visible to them.
"""

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.db.models import Exists, F, OuterRef, Q, Subquery

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import (
    ADMINS,
    EVERYTHING,
    NEVER,
    NOBODY,
    NOTHING,
    Reach,
    build_events_in_reach,
    build_rows_in_reach,
    get_reach,
    reaches_everybody,
    reaches_owner,
)
from contentapi.db.expressions import IsInArray, TextLiteral
from contentapi.events.declarations import list_uses

PUBLIC_POSTS = Q(status=TextLiteral("published"))  # a literal, so that the indexes of public posts apply


class VisiblePosts(NamedTuple):
    """The posts that an actor may see, as conditions that exclude each other: no author is a co-author of their post.

    `conditions` are those that an index of posts supports. `coauthored` is the condition on the other posts: those that
    the actor has written with their authors. `Coauthorship` lists them by the id of the actor's profile, `coauthor`.
    """

    conditions: Sequence[Q]
    coauthored: Q = NEVER
    coauthor: Subquery | None = None

    @property
    def condition(self) -> Q:
        return reduce(or_, self.conditions if self.coauthor is None else [*self.conditions, self.coauthored])


def visible_posts(actor: Actor) -> Q:
    """Published posts. With `posts:read` also the posts that the actor has written, alone or with others; for editors
    and admins all posts.
    """
    return split_visible_posts(actor).condition


def readable_posts(actor: Actor) -> Q:
    """`visible_posts`, and the post of the actor's preview link: for reads of one post and of what belongs to it."""
    visible, preview = visible_posts(actor), actor.preview
    if preview is None or preview.is_site or not visible:  # `Q() | condition` would be the condition alone
        return visible
    return visible | Q(pk=preview.post_id)


def split_visible_posts(actor: Actor, status: str | None = None) -> VisiblePosts:
    """Return the posts that the actor may see. With a status, the conditions are on posts of this status only."""
    unpublished = get_reach(actor, Scope.POSTS_READ)
    if unpublished.of_everybody or status == "published":
        return VisiblePosts([EVERYTHING])
    if unpublished == NOBODY:
        return VisiblePosts([PUBLIC_POSTS if status is None else NEVER])
    own = unpublished.build_condition(build_own_posts_condition)
    coauthored = unpublished.build_condition(build_coauthored_condition)
    coauthor = select_author_id(cast("int", unpublished.user_id))
    if status is not None:
        return VisiblePosts([own], coauthored, coauthor)
    return VisiblePosts([PUBLIC_POSTS, ~PUBLIC_POSTS & own], ~PUBLIC_POSTS & coauthored, coauthor)


def may_see_post(actor: Actor, writer_ids: Iterable[int | None], status: str) -> bool:
    """Whether the actor may see a post that these users have written: its author, and its co-authors."""
    reach = get_reach(actor, Scope.POSTS_READ)
    return status == "published" or any(reach.includes(user_id) for user_id in writer_ids)


def build_own_posts_condition(user_id: int) -> Q:
    """Return the condition on posts of a user's author profile: a subquery that runs once for each statement.

    A join would look up the author of every post that the statement scans.
    """
    return Q(author=select_author_id(user_id))


def build_coauthored_condition(user_id: int) -> Q:
    return Q(IsInArray(select_author_id(user_id), F("coauthor_ids")))


def select_author_id(user_id: int) -> Subquery:
    return Subquery(apps.get_model("blog", "Author").objects.filter(user=user_id).values("pk"))


POST_EVENTS = partial(build_events_in_reach, scope=Scope.POSTS_READ, find_owner=select_author_id)
# The posts that the actor may change: own ones; for editors and admins all
editable_posts = partial(build_rows_in_reach, scope=Scope.POSTS_WRITE, column="author", find_owner=select_author_id)
may_write_posts = partial(Actor.has, scope=Scope.POSTS_WRITE)  # perhaps only own ones
may_write_posts_of = partial(reaches_owner, scope=Scope.POSTS_WRITE)  # create, change and delete posts of this user
may_edit_author = may_write_posts_of  # the name, text and picture of the author with this user
may_manage_posts_and_authors = partial(reaches_everybody, scope=Scope.POSTS_WRITE)  # write all of them, set co-authors
may_purge_history = may_manage_posts_and_authors  # of posts that were deleted long ago, as the worker does
# Publish every author's due posts, and change the time at which a post became public
may_manage_publication = partial(reaches_everybody, scope=Scope.POSTS_PUBLISH)


def may_see_history_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may see all versions of a post of this user, and its working copy: texts not for the public."""
    return get_reach(actor, Scope.POSTS_READ).includes(owner_id) and may_write_posts_of(actor, owner_id)


def visible_working_copies(actor: Actor) -> Q:
    """The working copies of the posts whose history the actor may see: texts that are not public either."""
    reach = get_reach(actor, Scope.POSTS_WRITE) if actor.has(Scope.POSTS_READ) else NOBODY
    if reach == NOBODY:
        return NEVER
    return reach.build_condition(lambda user_id: Q(post__author=select_author_id(user_id)))


def previewable_posts(actor: Actor) -> Q:
    """The posts whose preview links the actor may see and create: those whose history the actor may see."""
    return editable_posts(actor) if actor.has(Scope.POSTS_READ) else NOTHING


visible_preview_links = visible_working_copies  # of the same posts; a token cannot be read
visible_deleted_posts = previewable_posts  # as a condition on their last versions


def may_preview_site(actor: Actor) -> bool:
    """Whether the actor may create links that show all hidden posts and all working copies."""
    return get_reach(actor, Scope.POSTS_READ).of_everybody and may_manage_posts_and_authors(actor)


def may_publish_working_copy_of(actor: Actor, owner_id: int | None, status: str) -> bool:
    """Whether the actor may make the working copy of a post with this owner and status the text of the post."""
    scope = Scope.POSTS_PUBLISH if status == "published" else Scope.POSTS_WRITE
    return get_reach(actor, scope).includes(owner_id)


def may_list_deleted_posts(actor: Actor) -> bool:
    """Whether the actor may list deleted posts; `visible_deleted_posts` limits which."""
    return actor.has(Scope.POSTS_READ) and actor.has(Scope.POSTS_WRITE)


def may_import_posts(actor: Actor) -> bool:
    """Whether the actor may import posts: the files name the author and the state of each post."""
    return may_manage_posts_and_authors(actor) and may_manage_publication(actor)


def visible_imports(actor: Actor) -> Q:
    """The imports of the actor; for admins all imports. They show the content of files that may not be public."""
    if not may_import_posts(actor):
        return NOTHING
    reach = Reach(of_everybody=actor.role in ADMINS, user_id=actor.user_id)
    return reach.build_condition(lambda user_id: Q(owner=user_id))


def may_transition_posts(actor: Actor, old_status: str, new_status: str) -> bool:
    """Whether the actor may change the status of posts in this way, perhaps only of their own posts."""
    return actor.has(get_transition_scope(old_status, new_status))


def may_transition_posts_of(actor: Actor, owner_id: int | None, old_status: str, new_status: str) -> bool:
    return get_reach(actor, get_transition_scope(old_status, new_status)).includes(owner_id)


def get_transition_scope(old_status: str, new_status: str) -> Scope:
    """Return the scope of a transition: `posts:publish` to or from published and scheduled, else `posts:write`."""
    is_public = old_status in {"published", "scheduled"} or new_status in {"published", "scheduled"}
    return Scope.POSTS_PUBLISH if is_public else Scope.POSTS_WRITE


VISIBLE_COMMENTS = Q(state=TextLiteral("visible"))  # a literal, so that PostgreSQL knows how frequent the state is
COMMENT_EVENTS = partial(build_events_in_reach, scope=Scope.COMMENTS_MODERATE, find_owner=select_author_id)
AUTHOR_EVENTS = partial(build_events_in_reach, scope=Scope.AUTHORS_READ)
# The comments that the actor may moderate: those on own posts; for editors and admins all
moderated_comments = partial(
    build_rows_in_reach, scope=Scope.COMMENTS_MODERATE, column="post__author", find_owner=select_author_id
)
may_comment = partial(Actor.has, scope=Scope.COMMENTS_WRITE)
may_moderate_comments = partial(Actor.has, scope=Scope.COMMENTS_MODERATE)  # on some posts: see `moderated_comments`
# Hide, show, delete and restore comments on the posts of this user
may_moderate_comments_on = partial(reaches_owner, scope=Scope.COMMENTS_MODERATE)
# Moderate every comment, comment as another author, and purge deleted comments
may_manage_comments = partial(reaches_everybody, scope=Scope.COMMENTS_MODERATE)


def known_comments(actor: Actor) -> Q:
    """Visible comments, and in every state those that the actor moderates. The post must be visible too."""
    moderated = moderated_comments(actor)
    return moderated if moderated == EVERYTHING else VISIBLE_COMMENTS | moderated


def may_see_comment(actor: Actor, state: str, post_owner_id: int | None) -> bool:
    return state == "visible" or may_moderate_comments_on(actor, post_owner_id)


def may_delete_comment_of(actor: Actor, owner_id: int | None, post_owner_id: int | None) -> bool:
    """Whether the actor may delete a comment of this user, on a post of `post_owner_id`: own or moderated."""
    if owner_id is not None and owner_id == actor.user_id:
        return actor.has(Scope.COMMENTS_WRITE)
    return may_moderate_comments_on(actor, post_owner_id)


# Authors, and their emails: the own profile; for editors and admins all
editable_authors = partial(build_rows_in_reach, scope=Scope.POSTS_WRITE, column="user")
visible_author_emails = partial(build_rows_in_reach, scope=Scope.AUTHORS_READ, column="user")
may_see_author_email = partial(reaches_owner, scope=Scope.AUTHORS_READ)

editable_images = partial(build_rows_in_reach, scope=Scope.IMAGES_WRITE, column="owner_id")
may_upload_images = partial(Actor.has, scope=Scope.IMAGES_WRITE)
may_list_images = may_upload_images  # also those of others: to use and to find them again
may_change_images_of = partial(reaches_owner, scope=Scope.IMAGES_WRITE)  # change, delete and restore those of this user
# Process images, and delete for good what was deleted long ago, as the worker does
may_purge_images = partial(reaches_everybody, scope=Scope.IMAGES_WRITE)


def visible_images(actor: Actor) -> Q:
    """Match all images for actors with `posts:write` or `images:write`. Others see those of visible posts, and of
    visible rows of own types.
    """
    if visible_image_events(actor) == EVERYTHING:
        return EVERYTHING
    posts = apps.get_model("blog", "Post")._base_manager.filter(visible_posts(actor))  # noqa: SLF001 - a public name
    rows = [use.select(OuterRef("pk")).filter(use.visible(actor)) for use in list_uses("Image")]
    return reduce(or_, (Q(Exists(each)) for each in (posts.filter(build_use_condition(OuterRef("pk"))), *rows)))


def build_use_condition(pk: Any) -> Q:
    """Return the condition on the posts whose cover or text has an image."""
    return Q(cover_id=pk) | Q(image_ids__contains=[pk])


def visible_image_events(actor: Actor) -> Q:
    """Users with the scope to write posts or images may see the events of all images."""
    return EVERYTHING if actor.has(Scope.IMAGES_WRITE) or actor.has(Scope.POSTS_WRITE) else NOTHING
