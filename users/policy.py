"""The rules for users, credentials and the admin site."""

from functools import partial

from django.conf import settings
from django.db.models import Q

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import ADMINS, STAFF, build_events_in_reach, get_reach

USER_EVENTS = partial(build_events_in_reach, scope=Scope.USERS_READ)

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
    return get_reach(actor, Scope.USERS_WRITE).of_everybody


def may_delete_user(actor: Actor, user_id: int | None) -> bool:
    return get_reach(actor, Scope.USERS_WRITE).includes(user_id)


def may_leave_no_admin(actor: Actor) -> bool:
    """Whether the actor may remove the last active admin: the operator may, who can create another one."""
    return actor.credential == "operator"


# Credentials


def visible_api_keys(actor: Actor) -> Q:
    """With `users:write` the actor's own API keys; for admins all API keys."""
    return get_reach(actor, Scope.USERS_WRITE).build_condition(lambda user_id: Q(user=user_id))


may_manage_keys_of = may_delete_user  # see, create and revoke the API keys of this user
may_manage_all_keys = may_manage_users
may_manage_clients = may_manage_users  # register OAuth clients, and revoke the consents of users


# The admin site. A session has the role of its user and every scope of the role. The pages ask the rules above. These
# two rules decide who may log in, and which apps are shown.


def may_use_admin_site(role: str) -> bool:
    return role in STAFF


def may_use_admin_app(role: str, app_label: str) -> bool:
    """Whether a role may use an app in the admin site: one of those that the app declares, or an admin."""
    from contentapi.events.declarations import load_apps  # which loads the models of all apps

    if app_label not in settings.CONTENT_APPS:
        return role in ADMINS
    return role in load_apps()[settings.CONTENT_APPS.index(app_label)].desk_roles
