"""Every permission rule. `visible_*` returns the condition on the rows that an actor may see, `may_*` a boolean.

The source is the permission table in docs/authentication.md. Both forms of a rule are computed from one `Reach`: whose
objects an action may touch. The owner of an object is a user id, never an author profile: a credential has only a user
id. Rules use the models' field names and ids, and one subquery for the author profile of a user.
"""

from collections.abc import Callable
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
STAFF = (Role.AUTHOR, *EDITORIAL)
ADMINS = (Role.ADMIN,)
# Editors may use these scopes for everybody's objects. Only admins may use the other scopes for everybody's objects.
EDITORIAL_SCOPES = {
    Scope.POSTS_READ,
    Scope.POSTS_WRITE,
    Scope.POSTS_PUBLISH,
    Scope.COMMENTS_MODERATE,
    Scope.AUTHORS_READ,
}
EVERYTHING = Q()
NOTHING = Q(pk__in=())
NEVER = Q(RawSQL("false", (), output_field=BooleanField()))  # unlike NOTHING, Django writes a statement
PUBLIC_POSTS = Q(status=TextLiteral("published"))  # a literal, so that the indexes of public posts apply


class Reach(NamedTuple):
    """Whose objects an action may touch: everybody's, those of one user, or nobody's if `user_id` is None."""

    everybodys: bool
    user_id: int | None

    def includes(self, owner_id: int | None) -> bool:
        """Whether the reach includes the objects of this user. None is the owner of objects without a user."""
        return self.everybodys or (self.user_id is not None and self.user_id == owner_id)

    def build_condition(self, is_own: Callable[[int], Q]) -> Q:
        """Return the condition on the rows in reach. `is_own` returns the condition on the rows of one user."""
        if self.everybodys:
            return EVERYTHING
        return NOTHING if self.user_id is None else is_own(self.user_id)


NOBODY = Reach(everybodys=False, user_id=None)


def get_reach(actor: Actor, scope: Scope) -> Reach:
    """Return the reach of an action that needs a scope: everybody's objects for some roles, one's own for the others.

    A role that may not touch even its own objects does not have the scope (`ROLE_SCOPES`).
    """
    if not actor.has(scope):
        return NOBODY
    roles = EDITORIAL if scope in EDITORIAL_SCOPES else ADMINS
    return Reach(everybodys=actor.role in roles, user_id=actor.user_id)


# Posts


def visible_posts(actor: Actor) -> Q:
    """Published posts. With `posts:read` also the actor's own posts; for editors and admins all posts."""
    return reduce(or_, split_visible_posts(actor))


def split_visible_posts(actor: Actor) -> list[Q]:
    """Return `visible_posts` as disjoint conditions, each of which an index supports."""
    unpublished = get_reach(actor, Scope.POSTS_READ)
    if unpublished.everybodys:
        return [EVERYTHING]
    if unpublished == NOBODY:
        return [PUBLIC_POSTS]
    return [PUBLIC_POSTS, ~PUBLIC_POSTS & unpublished.build_condition(build_own_posts_condition)]


def build_visibility_within_status(actor: Actor, status: str) -> Q:
    """Return `visible_posts` for posts of one status: one condition without OR."""
    if status == "published":
        return EVERYTHING
    unpublished = get_reach(actor, Scope.POSTS_READ)
    return NEVER if unpublished == NOBODY else unpublished.build_condition(build_own_posts_condition)


def may_see_post(actor: Actor, owner_id: int | None, status: str) -> bool:
    return status == "published" or get_reach(actor, Scope.POSTS_READ).includes(owner_id)


def build_own_posts_condition(user_id: int) -> Q:
    """Return the condition on posts of a user's author profile: a subquery that runs once for each statement.

    A join would look up the author of every post that the statement scans.
    """
    return Q(author=select_author_id(user_id))


def select_author_id(user_id: int) -> Subquery:
    return Subquery(apps.get_model("blog", "Author").objects.filter(user=user_id).values("pk"))


def may_write_posts(actor: Actor) -> bool:
    """Whether the actor may write posts, perhaps only their own. `may_write_posts_of` decides about one author."""
    return actor.has(Scope.POSTS_WRITE)


def may_write_posts_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may create, change and delete posts of the author with this user."""
    return get_reach(actor, Scope.POSTS_WRITE).includes(owner_id)


def may_see_history_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may see all versions of a post of this user. They contain texts that were never public."""
    return get_reach(actor, Scope.POSTS_READ).includes(owner_id) and may_write_posts_of(actor, owner_id)


def editable_posts(actor: Actor) -> Q:
    """With `posts:write` the actor's own posts; for editors and admins all posts."""
    return get_reach(actor, Scope.POSTS_WRITE).build_condition(build_own_posts_condition)


def may_list_deleted_posts(actor: Actor) -> bool:
    """Whether the actor may list deleted posts; `visible_deleted_posts` limits which."""
    return actor.has(Scope.POSTS_READ) and actor.has(Scope.POSTS_WRITE)


def visible_deleted_posts(actor: Actor) -> Q:
    """The deleted posts whose history the actor may see, as a condition on their last versions."""
    if not may_list_deleted_posts(actor):
        return NOTHING
    return get_reach(actor, Scope.POSTS_WRITE).build_condition(build_own_posts_condition)


def may_purge_history(actor: Actor) -> bool:
    """Whether the actor may delete the history of posts that were deleted long ago, as the clock does."""
    return may_manage_posts_and_authors(actor)


def may_manage_posts_and_authors(actor: Actor) -> bool:
    """Whether the actor may write posts of every author, as an import does, and create, change and delete authors."""
    return get_reach(actor, Scope.POSTS_WRITE).everybodys


def may_manage_publication(actor: Actor) -> bool:
    """Whether the actor may publish every author's due posts, and change the time at which a post became public."""
    return get_reach(actor, Scope.POSTS_PUBLISH).everybodys


def may_import_posts(actor: Actor) -> bool:
    """Whether the actor may import posts: the files name the author and the state of each post."""
    return may_manage_posts_and_authors(actor) and may_manage_publication(actor)


def visible_imports(actor: Actor) -> Q:
    """The imports of the actor; for admins all imports. They show the content of files that may not be public."""
    if not may_import_posts(actor):
        return NOTHING
    reach = Reach(everybodys=actor.role in ADMINS, user_id=actor.user_id)
    return reach.build_condition(lambda user_id: Q(owner=user_id))


def may_transition_posts(actor: Actor, old_status: str, new_status: str) -> bool:
    """Whether the actor may change the status of posts in this way, perhaps only of their own posts."""
    return actor.has(get_transition_scope(old_status, new_status))


def may_transition_posts_of(actor: Actor, owner_id: int | None, old_status: str, new_status: str) -> bool:
    return get_reach(actor, get_transition_scope(old_status, new_status)).includes(owner_id)


def get_transition_scope(old_status: str, new_status: str) -> Scope:
    """Return the scope of a transition: `posts:publish` to or from published and scheduled, else `posts:write`."""
    public = {"published", "scheduled"} & {old_status, new_status}
    return Scope.POSTS_PUBLISH if public else Scope.POSTS_WRITE


# Comments. The API shows a comment to everybody or to nobody: a visible comment on a visible post. The admin shows the
# others to those who moderate them.

VISIBLE_COMMENTS = Q(state=TextLiteral("visible"))  # a literal, so that PostgreSQL knows how frequent the state is


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
    return get_reach(actor, Scope.COMMENTS_MODERATE).everybodys


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


# Orders


def visible_orders(actor: Actor) -> Q:
    """With `orders:read` the actor's own orders; for admins all orders."""
    return get_reach(actor, Scope.ORDERS_READ).build_condition(lambda user_id: Q(user=user_id))


def may_see_order(actor: Actor, owner_id: int | None) -> bool:
    return get_reach(actor, Scope.ORDERS_READ).includes(owner_id)


def writable_orders(actor: Actor) -> Q:
    """With `orders:write` the actor's own orders; for admins all orders."""
    return get_reach(actor, Scope.ORDERS_WRITE).build_condition(lambda user_id: Q(user=user_id))


def may_read_orders(actor: Actor) -> bool:
    """Whether the actor may read orders; `visible_orders` limits which. No empty list and no 404 hides a refusal."""
    return actor.has(Scope.ORDERS_READ)


def may_list_everybodys_orders(actor: Actor) -> bool:
    return get_reach(actor, Scope.ORDERS_READ).everybodys


def may_write_orders(actor: Actor) -> bool:
    """Whether the actor may write orders, perhaps only their own. `may_write_orders_of` decides about one user."""
    return actor.has(Scope.ORDERS_WRITE)


def may_write_orders_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may create, pay and cancel orders of this user."""
    return get_reach(actor, Scope.ORDERS_WRITE).includes(owner_id)


def may_ship_orders(actor: Actor) -> bool:
    """Whether the actor may ship and deliver orders: admins and the operator may."""
    return get_reach(actor, Scope.ORDERS_WRITE).everybodys


# Users


def visible_users(actor: Actor) -> Q:
    """With `users:read` the actor's own user; for admins all users."""
    return get_reach(actor, Scope.USERS_READ).build_condition(lambda user_id: Q(pk=user_id))


def may_see_user(actor: Actor, user_id: int) -> bool:
    return get_reach(actor, Scope.USERS_READ).includes(user_id)


def may_read_users(actor: Actor) -> bool:
    """Whether the actor may read users; `visible_users` limits which. No empty list and no 404 hides a refusal."""
    return actor.has(Scope.USERS_READ)


def may_write_users(actor: Actor) -> bool:
    """Whether the actor may change or delete users, perhaps only their own. The rules below decide about one user."""
    return actor.has(Scope.USERS_WRITE)


def may_manage_users(actor: Actor) -> bool:
    """Whether the actor may create users, change every user and lock accounts."""
    return get_reach(actor, Scope.USERS_WRITE).everybodys


def may_delete_user(actor: Actor, user_id: int) -> bool:
    return get_reach(actor, Scope.USERS_WRITE).includes(user_id)


def may_leave_no_admin(actor: Actor) -> bool:
    """Whether the actor may remove the last active admin: the operator may, who can create another one."""
    return actor.credential == "operator"


# Credentials


def visible_api_keys(actor: Actor) -> Q:
    """With `users:write` the actor's own API keys; for admins all API keys."""
    return get_reach(actor, Scope.USERS_WRITE).build_condition(lambda user_id: Q(user=user_id))


def may_manage_keys_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may see, create and revoke the API keys of this user."""
    return get_reach(actor, Scope.USERS_WRITE).includes(owner_id)


def may_manage_everybodys_keys(actor: Actor) -> bool:
    return get_reach(actor, Scope.USERS_WRITE).everybodys


def may_grant_scope(actor: Actor, scope: Scope) -> bool:
    """Whether the actor may give a credential this scope: only one that the actor has."""
    return actor.has(scope)


def may_manage_clients(actor: Actor) -> bool:
    """Whether the actor may register OAuth clients and revoke the consents of users."""
    return get_reach(actor, Scope.USERS_WRITE).everybodys


# The admin site, where a session has a role and all its scopes. Its pages ask the rules above; these two decide who may
# log in and which apps have pages.


def may_use_admin_site(role: str) -> bool:
    return role in STAFF


def may_use_admin_app(role: str, app_label: str) -> bool:
    """Whether a role may use an app in the admin site: admins every app, authors and editors the blog."""
    return role in (STAFF if app_label == "blog" else ADMINS)


# Enforcement


def require_credential(actor: Actor, act: str) -> None:
    """Raise `Unauthenticated` for an anonymous actor. Call this before you look for the object to `act` on."""
    if actor.is_anonymous:
        raise Unauthenticated(f"A credential is needed to {act}.")


def require_permission(actor: Actor, allowed: bool, act: str) -> None:  # noqa: FBT001 - the call reads as a sentence
    """Raise an error unless `allowed`: `Unauthenticated` for an anonymous actor, `Forbidden` for others.

    `act` is part of the message, for example "publish posts".
    """
    if allowed:
        return
    require_credential(actor, act)
    raise Forbidden(f"You may not {act}.")
