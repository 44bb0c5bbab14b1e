"""The rules for users, credentials and the admin site."""

from functools import partial

from django.conf import settings

from contentapi.core.identity import Actor, Scope
from contentapi.core.policy import (
    ADMINS,
    STAFF,
    build_events_in_reach,
    build_rows_in_reach,
    reaches_everybody,
    reaches_owner,
)

USER_EVENTS = partial(build_events_in_reach, scope=Scope.USERS_READ)

# Users

visible_users = partial(build_rows_in_reach, scope=Scope.USERS_READ, column="pk")
may_see_user = partial(reaches_owner, scope=Scope.USERS_READ)
may_read_users = partial(Actor.has, scope=Scope.USERS_READ)  # perhaps only their own: no empty list hides a refusal
may_write_users = partial(Actor.has, scope=Scope.USERS_WRITE)  # change or delete users, perhaps only their own
may_manage_users = partial(reaches_everybody, scope=Scope.USERS_WRITE)  # create users, change all, and lock accounts
may_delete_user = partial(reaches_owner, scope=Scope.USERS_WRITE)


def may_leave_no_admin(actor: Actor) -> bool:
    """Whether the actor may remove the last active admin: the operator may, who can create another one."""
    return actor.credential == "operator"


# Credentials

visible_api_keys = partial(build_rows_in_reach, scope=Scope.USERS_WRITE, column="user")
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
