"""Every permission rule. `visible_*`: the read form, a condition on a query. `may_*`: the write form, a yes or no.

The permission table of the decisions, section 4, is the source. Rules see the models' field names and ids only.
"""

from django.db.models import Q

from contentapi.errors import Forbidden, Unauthenticated
from contentapi.identity import Actor, Role, Scope

EDITORIAL = (Role.EDITOR, Role.ADMIN)
EVERYTHING = Q()
NOTHING = Q(pk__in=())


def visible_posts(actor: Actor) -> Q:
    """Published posts; with `posts:read` also one's own unpublished posts, and an editor's or admin's all."""
    if not actor.has(Scope.POSTS_READ):
        return Q(status="published")
    if actor.role in EDITORIAL:
        return EVERYTHING
    return Q(status="published") | Q(author=actor.author_id)


def visible_author_emails(actor: Actor) -> Q:
    """With `authors:read` one's own email, and an editor's or admin's all."""
    if not actor.has(Scope.AUTHORS_READ):
        return NOTHING
    if actor.role in EDITORIAL:
        return EVERYTHING
    return Q(pk=actor.author_id)


def may_change_posts(actor: Actor) -> bool:
    """Whether the asker changes posts in any way: writes them, or moves them between states."""
    return actor.has(Scope.POSTS_WRITE) or actor.has(Scope.POSTS_PUBLISH)


def reaches_posts_of(actor: Actor, author_id: int | None) -> bool:
    """Whether the role reaches this author's posts; None stands for a profile of one's own that does not exist yet."""
    return actor.role in EDITORIAL or (actor.role is Role.AUTHOR and author_id == actor.author_id)


def may_write_posts(actor: Actor) -> bool:
    """Whether the asker writes posts at all, of whichever author."""
    return actor.has(Scope.POSTS_WRITE)


def may_write_posts_of(actor: Actor, author_id: int | None) -> bool:
    return may_write_posts(actor) and reaches_posts_of(actor, author_id)


def may_import_posts(actor: Actor) -> bool:
    """Whether the asker brings in posts of whomever their files name."""
    return may_write_posts(actor) and actor.role in EDITORIAL


def may_move_posts(actor: Actor, old_status: str, new_status: str) -> bool:
    """Whether the asker may move posts between these states: to or from the public ones needs `posts:publish`."""
    public = {"published", "scheduled"} & {old_status, new_status}
    return actor.has(Scope.POSTS_PUBLISH) if public else actor.has(Scope.POSTS_WRITE)


def may_move_posts_of(actor: Actor, author_id: int | None, old_status: str, new_status: str) -> bool:
    return may_move_posts(actor, old_status, new_status) and reaches_posts_of(actor, author_id)


def may_comment(actor: Actor) -> bool:
    return actor.has(Scope.COMMENTS_WRITE)


def may_create_users(actor: Actor) -> bool:
    return actor.role is Role.ADMIN and actor.has(Scope.USERS_WRITE)


def may_create_order_for(actor: Actor, user_id: int) -> bool:
    return actor.has(Scope.ORDERS_WRITE) and (actor.role is Role.ADMIN or user_id == actor.user_id)


def permit(actor: Actor, allowed: bool, act: str) -> None:  # noqa: FBT001 - the sentence reads as one
    """Let `act` ("publish posts") go on. Raises `Unauthenticated` for the anonymous and `Forbidden` for the others."""
    if allowed:
        return
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {act}.")
    raise Forbidden(f"You may not {act}.")
