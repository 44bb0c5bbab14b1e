"""The last admin stays: nobody removes the role, locks or deletes the only active admin, except the operator."""

from functools import partial
from typing import Any

import pytest
from django.urls import reverse

from contentapi.core.errors import Conflict
from contentapi.core.identity import ALL_SCOPES, Actor, Role
from tests.admin_forms import log_in, open_form
from tests.blog.racing import race
from tests.factories import make_user
from users import services
from users.models import User

LAST = "is the last admin. Make another user an admin first."


def build_actor(user: User) -> Actor:
    return Actor(user.pk, Role.ADMIN, ALL_SCOPES, "session")


@pytest.mark.parametrize(
    "changes", [{"role": Role.EDITOR}, {"is_active": False}, {"role": Role.READER, "is_active": False}]
)
def test_last_admin_keeps_role_and_access(changes: dict[str, Any]) -> None:
    admin = make_user(Role.ADMIN)
    make_user(Role.ADMIN, is_active=False)

    with pytest.raises(Conflict, match=LAST):
        services.edit_user(actor=build_actor(admin), user_id=str(admin.pk), changes=changes)

    assert User.objects.filter(pk=admin.pk, role=Role.ADMIN, is_active=True).exists()


def test_admin_with_a_colleague_leaves() -> None:
    admin = make_user(Role.ADMIN)
    make_user(Role.ADMIN)

    services.delete_user(actor=build_actor(admin), user_id=str(admin.pk))

    assert not User.objects.filter(pk=admin.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_leave_one() -> None:
    first, second = make_user(Role.ADMIN), make_user(Role.ADMIN)

    def remove(actor: User, user: User) -> object:
        try:
            return services.edit_user(actor=build_actor(actor), user_id=str(user.pk), changes={"role": Role.READER})
        except Conflict as error:
            return error

    race(
        lambda: list(User.objects.order_by("pk").select_for_update()),
        partial(remove, first, second),
        partial(remove, second, first),
    )

    assert User.objects.filter(role=Role.ADMIN).count() == 1


@pytest.mark.thorough
def test_no_page_of_the_admin_removes_the_last_admin() -> None:
    admin = make_user(Role.ADMIN)
    admin.set_password("seven harbours and a lamp")
    admin.save()
    client = log_in(admin)
    users, pk = reverse("admin:users_user_changelist"), admin.pk
    form = open_form(client, reverse("admin:users_user_change", args=[pk]))
    before = User.objects.values("role", "is_active", "password").get()

    responses = [
        client.post(reverse("admin:users_user_change", args=[pk]), {**form, "role": "editor"}),
        client.post(reverse("admin:users_user_action", args=[pk, "lock"]), follow=True),
        client.post(reverse("admin:users_user_delete", args=[pk]), {"post": "yes"}, follow=True),
        client.post(users, {"action": "delete_selected", "_selected_action": [pk], "post": "yes"}, follow=True),
        client.post(reverse("admin:users_user_bulk", args=["lock"]), {"ids": str(pk)}, follow=True),
        client.post(
            reverse("admin:auth_user_password_change", args=[pk]),
            {"usable_password": "false", "unset-password": "1"},
            follow=True,
        ),
    ]

    assert [LAST in response.text for response in responses] == [True] * 6
    assert User.objects.values("role", "is_active", "password").get() == before
