"""Every permission rule. `visible_*`: the read form, a condition on a query. `may_*`: the write form, a yes or no.

The permission table of the decisions, section 4, is the source. Both forms of a rule are made from one `Reach`: whose
things an act reaches. What belongs to a user is known by the user's id, never by a profile: the id is all that a
credential tells. Rules see the models' field names and ids only.
"""

from collections.abc import Callable, Collection
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.apps import apps
from django.db.models import BooleanField, Q, Subquery
from django.db.models.expressions import RawSQL

from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import Actor, Role, Scope
from contentapi.db.literals import TextLiteral

EDITORIAL = (Role.EDITOR, Role.ADMIN)
ADMINS = (Role.ADMIN,)
EVERYTHING = Q()
NOTHING = Q(pk__in=())
NEVER = Q(RawSQL("false", (), output_field=BooleanField()))  # like NOTHING, and Django still writes the statement
PUBLIC_POSTS = Q(status=TextLiteral("published"))  # a literal, so that the indexes of public posts apply


class Reach(NamedTuple):
    """Whose things an act reaches: everybody's; those of the one user who asks; or, where that is None, nobody's."""

    everybodys: bool
    user_id: int | None

    def includes(self, owner_id: int | None) -> bool:
        """Whether what belongs to this user is reached; None stands for what belongs to no user."""
        return self.everybodys or (self.user_id is not None and self.user_id == owner_id)

    def condition(self, is_own: Callable[[int], Q]) -> Q:
        """Return the condition on rows that are reached, given the condition on rows of a user."""
        if self.everybodys:
            return EVERYTHING
        return NOTHING if self.user_id is None else is_own(self.user_id)


NOBODY = Reach(everybodys=False, user_id=None)


def reach(actor: Actor, scope: Scope, *, everybodys_for: Collection[Role]) -> Reach:
    """Say whose things an act that takes this scope reaches: everybody's for some roles, for the others their own.

    A role that reaches not even its own has not got the scope (`ROLE_SCOPES`).
    """
    if not actor.has(scope):
        return NOBODY
    return Reach(everybodys=actor.role in everybodys_for, user_id=actor.user_id)


# Posts


def visible_posts(actor: Actor) -> Q:
    """Published posts; with `posts:read` also one's own unpublished posts, and an editor's or admin's all."""
    return reduce(or_, split_visible_posts(actor))


def split_visible_posts(actor: Actor) -> list[Q]:
    """Return `visible_posts` as conditions of which no row meets two, each for an index of its own."""
    unpublished = readable_posts(actor)
    if unpublished.everybodys:
        return [EVERYTHING]
    if unpublished == NOBODY:
        return [PUBLIC_POSTS]
    return [PUBLIC_POSTS, ~PUBLIC_POSTS & unpublished.condition(is_own_post)]


def narrow_visible_posts(actor: Actor, status: str) -> Q:
    """Return what `visible_posts` amounts to for posts that are all in this state: one condition, without OR."""
    unpublished = readable_posts(actor)
    if status == "published":
        return EVERYTHING
    return unpublished.condition(is_own_post) if unpublished != NOBODY else NEVER


def may_see_post(actor: Actor, owner_id: int | None, status: str) -> bool:
    return status == "published" or readable_posts(actor).includes(owner_id)


def readable_posts(actor: Actor) -> Reach:
    return reach(actor, Scope.POSTS_READ, everybodys_for=EDITORIAL)


def is_own_post(user_id: int) -> Q:
    """Return the condition on posts of a user's author profile: a sub-select that runs once for a statement.

    A join would look up the author of each post that is passed by.
    """
    return Q(author=profile_of(user_id))


def profile_of(user_id: int) -> Subquery:
    return Subquery(apps.get_model("blog", "Author").objects.filter(user=user_id).values("pk"))


def may_write_posts(actor: Actor) -> bool:
    """Whether the asker writes posts at all, of whichever author."""
    return actor.has(Scope.POSTS_WRITE)


def may_write_posts_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the asker creates, changes and deletes posts of the author who is this user."""
    return reach(actor, Scope.POSTS_WRITE, everybodys_for=EDITORIAL).includes(owner_id)


def may_write_everybodys_posts(actor: Actor) -> bool:
    """Whether the asker creates posts of whichever author; so does an import, of whomever its files name."""
    return reach(actor, Scope.POSTS_WRITE, everybodys_for=EDITORIAL).everybodys


def may_publish_due_posts(actor: Actor) -> bool:
    """Whether the asker publishes whosever posts are due."""
    return reach(actor, Scope.POSTS_PUBLISH, everybodys_for=EDITORIAL).everybodys


def may_move_posts(actor: Actor, old_status: str, new_status: str) -> bool:
    """Whether the asker may move posts between these states, of whichever author."""
    return actor.has(scope_of_move(old_status, new_status))


def may_move_posts_of(actor: Actor, owner_id: int | None, old_status: str, new_status: str) -> bool:
    scope = scope_of_move(old_status, new_status)
    return reach(actor, scope, everybodys_for=EDITORIAL).includes(owner_id)


def scope_of_move(old_status: str, new_status: str) -> Scope:
    """Return the scope of a move: to or from the public states it is `posts:publish`."""
    public = {"published", "scheduled"} & {old_status, new_status}
    return Scope.POSTS_PUBLISH if public else Scope.POSTS_WRITE


# Comments: whoever sees a post sees them all.


def may_comment(actor: Actor) -> bool:
    return actor.has(Scope.COMMENTS_WRITE)


def may_delete_comment_of(actor: Actor, owner_id: int | None, post_owner_id: int | None) -> bool:
    """Whether the asker deletes a comment of this user: their own, or as a moderator of this post another's."""
    if owner_id is not None and owner_id == actor.user_id:
        return actor.has(Scope.COMMENTS_WRITE)
    return reach(actor, Scope.COMMENTS_MODERATE, everybodys_for=EDITORIAL).includes(post_owner_id)


# Authors


def visible_author_emails(actor: Actor) -> Q:
    """With `authors:read` one's own email, and an editor's or admin's all."""
    return readable_emails(actor).condition(lambda user_id: Q(user=user_id))


def may_see_author_email(actor: Actor, owner_id: int | None) -> bool:
    return readable_emails(actor).includes(owner_id)


def readable_emails(actor: Actor) -> Reach:
    return reach(actor, Scope.AUTHORS_READ, everybodys_for=EDITORIAL)


# Orders


def visible_orders(actor: Actor) -> Q:
    """With `orders:read` one's own orders, and an admin's all."""
    return readable_orders(actor).condition(lambda user_id: Q(user=user_id))


def may_see_order(actor: Actor, owner_id: int | None) -> bool:
    return readable_orders(actor).includes(owner_id)


def may_list_orders(actor: Actor) -> bool:
    """Whether the actor may list orders at all; `visible_orders` says which.

    Without this rule a missing permission would look like an empty list.
    """
    return actor.has(Scope.ORDERS_READ)


def readable_orders(actor: Actor) -> Reach:
    return reach(actor, Scope.ORDERS_READ, everybodys_for=ADMINS)


def may_write_orders(actor: Actor) -> bool:
    """Whether the asker creates orders at all, for whomever."""
    return actor.has(Scope.ORDERS_WRITE)


def may_write_orders_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the asker creates, pays and cancels orders of this user."""
    return reach(actor, Scope.ORDERS_WRITE, everybodys_for=ADMINS).includes(owner_id)


def may_ship_orders(actor: Actor) -> bool:
    """Whether the asker sends orders off and records their arrival: an admin, and the operator."""
    return reach(actor, Scope.ORDERS_WRITE, everybodys_for=ADMINS).everybodys


# Users


def visible_users(actor: Actor) -> Q:
    """With `users:read` oneself, and an admin's all."""
    return readable_users(actor).condition(lambda user_id: Q(pk=user_id))


def may_see_user(actor: Actor, user_id: int) -> bool:
    return readable_users(actor).includes(user_id)


def may_list_users(actor: Actor) -> bool:
    """Whether the actor may list users at all; `visible_users` says which."""
    return actor.has(Scope.USERS_READ)


def readable_users(actor: Actor) -> Reach:
    return reach(actor, Scope.USERS_READ, everybodys_for=ADMINS)


def may_create_users(actor: Actor) -> bool:
    return reach(actor, Scope.USERS_WRITE, everybodys_for=ADMINS).everybodys


def may_delete_user(actor: Actor, user_id: int) -> bool:
    return reach(actor, Scope.USERS_WRITE, everybodys_for=ADMINS).includes(user_id)


def require_credential(actor: Actor, act: str) -> None:
    """Ask the anonymous for a credential before a thing to `act` on is looked for. Raises `Unauthenticated`."""
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {act}.")


def permit(actor: Actor, allowed: bool, act: str) -> None:  # noqa: FBT001 - the sentence reads as one
    """Let `act` ("publish posts") go on. Raises `Unauthenticated` for the anonymous and `Forbidden` for the others."""
    if allowed:
        return
    require_credential(actor, act)
    raise Forbidden(f"You may not {act}.")
