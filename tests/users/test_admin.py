"""The admin pages of users and API keys: access, contents and actions."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import log_in
from tests.factories import make_user
from users import services
from users.models import ApiKey, User

USERS = reverse("admin:users_user_changelist")
NEW_USER = reverse("admin:users_user_add")
KEYS = reverse("admin:users_apikey_changelist")
LOGIN = reverse("admin:login")
PASSWORD = "seven harbours and a lamp"
NEW = {
    "email": "Ines@example.invalid",
    "name": "Ines",
    "role": "editor",
    "usable_password": "true",
    "password1": PASSWORD,
    "password2": PASSWORD,
}


def test_added_user_logs_in_with_the_email_in_another_case() -> None:
    added = log_in(make_user(Role.ADMIN)).post(NEW_USER, NEW)
    newcomer = Client()

    response = newcomer.post(LOGIN, {"username": "INES@EXAMPLE.invalid", "password": PASSWORD, "next": "/admin/"})

    user = User.objects.with_email("ines@example.invalid").get()
    assert (added.status_code, added["Location"]) == (302, reverse("admin:users_user_change", args=[user.pk]))
    assert (response.status_code, response["Location"]) == (302, "/admin/")
    assert newcomer.session["_auth_user_id"] == str(user.pk)
    assert (user.email, user.name, user.role) == ("Ines@example.invalid", "Ines", "editor")


@pytest.mark.parametrize(
    ("changed", "messages"),
    [
        ({"email": "TAKEN@example.invalid"}, ["This email is taken."]),
        (
            {"email": "ines", "name": "", "role": "owner", "password2": "another"},
            [
                "Enter a valid email address.",
                "This field is required.",
                "Select a valid choice.",
                "The two password fields didn’t match.",  # noqa: RUF001 - Django's words
            ],
        ),
        (
            {"email": "x" * 254 + "@example.invalid", "password1": "short", "password2": "short"},
            ["Ensure this value has at most 254 characters", "This password is too short."],
        ),
    ],
)
def test_invalid_user_is_rejected_with_form_errors(changed: dict[str, str], messages: list[str]) -> None:
    make_user(email="taken@example.invalid")

    response = log_in(make_user(Role.ADMIN)).post(NEW_USER, {**NEW, **changed})

    text = response.text.replace("&#x27;", "'")
    assert (response.status_code, [each for each in messages if each not in text]) == (200, [])
    assert not User.objects.filter(name__in=["Ines", ""]).exists()


def test_admin_changes_a_name_and_a_role() -> None:
    user = make_user(email="ines@example.invalid")
    changed = {"email": user.email, "name": "Ines Ähre", "role": "author", "is_active": ""}

    response = log_in(make_user(Role.ADMIN)).post(reverse("admin:users_user_change", args=[user.pk]), changed)

    user.refresh_from_db()
    assert response.status_code == 302
    assert (user.name, user.role, user.is_active) == ("Ines Ähre", "author", True)


def press(client: Client, user: User, action: str) -> Any:
    return client.post(reverse("admin:users_user_action", args=[user.pk, action]), follow=True)


def test_buttons_lock_and_unlock_a_user() -> None:
    user, admin = make_user(Role.EDITOR), log_in(make_user(Role.ADMIN))

    for action, is_active in (("lock", False), ("unlock", True)):
        page = press(admin, user, action)
        user.refresh_from_db()
        assert (f"was {action}ed." in page.text, user.is_active) == (True, is_active)


def test_admin_sets_a_password_which_ends_the_sessions_of_the_user() -> None:
    user = make_user(Role.AUTHOR)
    browser = log_in(user)
    values = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    page = reverse("admin:auth_user_password_change", args=[user.pk])

    response = log_in(make_user(Role.ADMIN)).post(page, values)

    user.refresh_from_db()
    assert (response.status_code, user.check_password(PASSWORD)) == (302, True)
    assert browser.get(reverse("admin:index")).status_code == 302


def test_reader_cannot_log_in() -> None:
    user = make_user(Role.READER)
    user.set_password(PASSWORD)
    user.save()

    refused = Client().post(LOGIN, {"username": user.email, "password": PASSWORD})
    client = log_in(make_user(Role.READER))
    turned_away = client.get(reverse("admin:index"))

    assert (refused.status_code, "The desk is for authors and editors." in refused.text) == (200, True)
    assert (turned_away.status_code, turned_away["Location"]) == (302, f"{LOGIN}?next=/admin/")
    assert "The desk is for authors and editors." in client.get(turned_away["Location"]).text
    assert "The desk is for" not in Client().post(LOGIN, {"username": user.email, "password": "wrong"}).text


def test_keys_cannot_be_changed_or_deleted() -> None:
    services.create_api_key(actor=OPERATOR, email=make_user().email, name="before")
    pk = ApiKey.objects.get().pk
    client = log_in(make_user(Role.ADMIN))

    statuses = [
        client.post(reverse("admin:users_apikey_change", args=[pk]), {"name": "after"}).status_code,
        client.post(reverse("admin:users_apikey_delete", args=[pk]), {"post": "yes"}).status_code,
    ]

    assert statuses == [403, 403]
    assert ApiKey.objects.get().name == "before"


def test_pages_show_no_secrets() -> None:
    user = make_user(Role.ADMIN)
    user.set_password(PASSWORD)
    user.save()
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="blog")
    row = ApiKey.objects.get()
    client = log_in(make_user(Role.ADMIN))

    pages = [
        client.get(USERS).text,
        client.get(reverse("admin:users_user_change", args=[user.pk])).text,
        client.get(KEYS).text,
        client.get(reverse("admin:users_apikey_change", args=[row.pk])).text,
    ]

    shown = "".join(pages)
    assert row.prefix in pages[2]
    assert row.prefix in pages[3]
    for secret in (key.rpartition("_")[2], user.password, bytes(row.digest).hex(), str(bytes(row.digest)), "memory at"):
        assert secret not in shown


def test_page_of_a_user_states_whether_there_is_a_password_and_nothing_of_its_hash() -> None:
    with_password, without = make_user(Role.AUTHOR), make_user(Role.AUTHOR)
    with_password.set_password(PASSWORD)
    with_password.save()
    without.set_unusable_password()
    without.save()
    admin = log_in(make_user(Role.ADMIN))

    pages = [admin.get(reverse("admin:users_user_change", args=[user.pk])).text for user in (with_password, without)]

    assert ["Change it</a>" in page for page in pages] == [True, False]
    assert ["Set one</a>" in page for page in pages] == [False, True]
    assert not [word for word in ("argon2", "salt", "hash:", "Raw passwords") for page in pages if word in page]
