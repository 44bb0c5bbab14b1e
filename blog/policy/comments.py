"""The rules for comments and authors.

The API shows a comment to everybody or to nobody: a visible comment on a visible post. The admin shows the others to
those who moderate them.
"""

from functools import partial

from django.db.models import Q

from blog.policy.posts import select_author_id
from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import EVERYTHING, build_events_in_reach, get_reach
from contentapi.db.literals import TextLiteral

VISIBLE_COMMENTS = Q(state=TextLiteral("visible"))  # a literal, so that PostgreSQL knows how frequent the state is
COMMENT_EVENTS = partial(build_events_in_reach, scope=Scope.COMMENTS_MODERATE, find_owner=select_author_id)
AUTHOR_EVENTS = partial(build_events_in_reach, scope=Scope.AUTHORS_READ)


def known_comments(actor: Actor) -> Q:
    """Visible comments, and in every state those that the actor moderates. The post must be visible too."""
    moderated = moderated_comments(actor)
    return moderated if moderated == EVERYTHING else VISIBLE_COMMENTS | moderated


def may_see_comment(actor: Actor, state: str, post_owner_id: int | None) -> bool:
    return state == "visible" or may_moderate_comments_on(actor, post_owner_id)


def may_comment(actor: Actor) -> bool:
    return actor.has(Scope.COMMENTS_WRITE)


def may_delete_comment_of(actor: Actor, owner_id: int | None, post_owner_id: int | None) -> bool:
    """Whether the actor may delete a comment of this user: their own, or one that they may moderate.

    `post_owner_id` is the owner of the post that the comment is on.
    """
    if owner_id is not None and owner_id == actor.user_id:
        return actor.has(Scope.COMMENTS_WRITE)
    return may_moderate_comments_on(actor, post_owner_id)


def moderated_comments(actor: Actor) -> Q:
    """With `comments:moderate` the comments on the actor's own posts; for editors and admins all comments."""
    reach = get_reach(actor, Scope.COMMENTS_MODERATE)
    return reach.build_condition(lambda user_id: Q(post__author=select_author_id(user_id)))


def may_moderate_comments(actor: Actor) -> bool:
    """Whether the actor may moderate the comments on some posts; `moderated_comments` limits which."""
    return actor.has(Scope.COMMENTS_MODERATE)


def may_moderate_comments_on(actor: Actor, post_owner_id: int | None) -> bool:
    """Whether the actor may hide, show, delete and restore comments on the posts of this user."""
    return get_reach(actor, Scope.COMMENTS_MODERATE).includes(post_owner_id)


def may_manage_comments(actor: Actor) -> bool:
    """Whether the actor may moderate every comment, comment as another author, and purge deleted comments."""
    return get_reach(actor, Scope.COMMENTS_MODERATE).of_everybody


# Authors


def editable_authors(actor: Actor) -> Q:
    """With `posts:write` the actor's own author profile; for editors and admins all authors."""
    return get_reach(actor, Scope.POSTS_WRITE).build_condition(lambda user_id: Q(user=user_id))


def may_edit_author(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may change the name, text and picture of the author with this user."""
    return get_reach(actor, Scope.POSTS_WRITE).includes(owner_id)


def visible_author_emails(actor: Actor) -> Q:
    """With `authors:read` the actor's own email; for editors and admins all emails."""
    return get_reach(actor, Scope.AUTHORS_READ).build_condition(lambda user_id: Q(user=user_id))


def may_see_author_email(actor: Actor, owner_id: int | None) -> bool:
    return get_reach(actor, Scope.AUTHORS_READ).includes(owner_id)
