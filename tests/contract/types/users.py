"""Users."""

from typing import Any

from django.urls import reverse

import users.selectors
import users.services
from tests.contract.admin_browser import press_button, send_form
from tests.contract.admin_requests import ADMINS_MAY, ADMINS_SEE, Page, act_on, list_pages, perform_in_list
from tests.contract.permissions import (
    ADMINS,
    ADMINS_KNOW,
    ADMINS_ONLY,
    OTHERS,
    OWN,
    SEE_USERS,
    USERS,
    WRITE_USERS,
    Outcome,
    Row,
    allow,
)
from tests.contract.routine import Routine
from tests.contract.worlds import World, contains_row

NEW: dict[str, Any] = {"email": "new@example.invalid", "name": "New"}
USER = Routine("user", "users", NEW, actions=("read", "list", "create", "delete"))


def delete_user(world: World) -> bool:
    users.services.delete_user(actor=world.actor, user_id=str(world.target.user.pk))
    return True


def create_user(world: World) -> Outcome:
    values = {**NEW, "role": "reader", "usable_password": "true"}
    values |= dict.fromkeys(("password1", "password2"), "seven harbours and a lamp")
    return send_form(world, reverse("admin:users_user_add"), **values)


TABLE = {
    "read a user, list users": [
        Row("read a user", OWN, allow(USERS), SEE_USERS),
        Row("read a user", OTHERS, ADMINS_KNOW, SEE_USERS),
        Row("list users", OWN, allow(USERS), SEE_USERS),
        Row("list users", OTHERS, ADMINS_KNOW, SEE_USERS),
    ],
    "create a user": [
        Row("create a user", OTHERS, ADMINS_ONLY, WRITE_USERS),
    ],
    "delete a user": [
        Row("delete a user", OWN, allow(USERS), SEE_USERS | WRITE_USERS),
        Row("delete a user", OTHERS, ADMINS_KNOW, SEE_USERS | WRITE_USERS),
    ],
}
ADMIN_ROWS = [
    Row("lock a user", OWN, allow(ADMINS, reader=403, author=403, editor=403), SEE_USERS | WRITE_USERS),
    Row("lock a user", OTHERS, ADMINS_KNOW, SEE_USERS | WRITE_USERS),
]
NARROWER = {
    ("list users", OWN): (("author", "editor"), "403", "The section is for admins. One's own account has its page."),
    ("list users", OTHERS): (("author", "editor"), "403", "The section is for admins."),
}
SERVICES = {
    "read a user": lambda world: users.selectors.select_user_by_id(world.actor, str(world.target.user.pk)).exists(),
    "list users": lambda world: contains_row(users.selectors.select_users(world.actor).queryset(), world.target.user),
    "create a user": lambda world: users.services.create_user(actor=world.actor, **NEW),
    "delete a user": delete_user,
}
GRAPHQL, REST, SUCCESSES = USER.ask_graphql(), USER.ask_rest(), USER.succeed()
ADMIN = {
    **USER.browse("users"),
    "create a user": create_user,
    "lock a user": lambda world: press_button(world, "users_user", world.target.user.pk, "lock"),
}
PAGES = [
    *list_pages("users_user", ADMINS_MAY, ADMINS_MAY, ADMINS_SEE, ADMINS_SEE),
    Page("users_user_action", OTHERS, ADMINS_SEE, act_on("lock")),
    Page("users_user_bulk", OTHERS, ADMINS_MAY, perform_in_list("lock")),
]
