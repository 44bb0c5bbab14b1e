"""The admin site as a browser sees it: who gets in, what is shown, what can be done."""

import pytest
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import OPERATOR, Role
from orders.models import Order
from tests.factories import make_author, make_post, make_user
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


def browser(role: Role) -> Client:
    """Return a browser in which a new user of this role is logged in."""
    client = Client()
    client.force_login(make_user(role))
    return client


@pytest.mark.django_db
def test_an_admin_adds_a_user_who_then_logs_in_with_the_email_in_another_case() -> None:
    added = browser(Role.ADMIN).post(NEW_USER, NEW)
    newcomer = Client()

    answer = newcomer.post(LOGIN, {"username": "INES@EXAMPLE.invalid", "password": PASSWORD, "next": "/admin/"})

    user = User.objects.with_email("ines@example.invalid").get()
    assert (added.status_code, added["Location"]) == (302, reverse("admin:users_user_change", args=[user.pk]))
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert newcomer.session["_auth_user_id"] == str(user.pk)
    assert (user.email, user.name, user.role) == ("Ines@example.invalid", "Ines", "editor")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"email": "TAKEN@example.invalid"}, "This email is taken."),
        ({"email": "ines"}, "Enter a valid email address."),
        ({"email": "x" * 254 + "@example.invalid"}, "Ensure this value has at most 254 characters"),
        ({"name": ""}, "This field is required."),
        ({"role": "owner"}, "Select a valid choice."),
        ({"password1": "short", "password2": "short"}, "This password is too short."),
        ({"password2": "another"}, "The two password fields didn’t match."),  # noqa: RUF001 - Django's words
    ],
)
def test_a_user_against_a_rule_is_not_added_and_the_form_says_why(changed: dict[str, str], message: str) -> None:
    make_user(email="taken@example.invalid")

    answer = browser(Role.ADMIN).post(NEW_USER, {**NEW, **changed})

    assert (answer.status_code, message in answer.text.replace("&#x27;", "'")) == (200, True)
    assert not User.objects.filter(name="Ines").exists()


@pytest.mark.django_db
def test_an_admin_changes_a_role_and_locks_an_account() -> None:
    user = make_user(email="ines@example.invalid")
    changed = {"email": user.email, "name": "Ines Ähre", "role": "author"}

    answer = browser(Role.ADMIN).post(reverse("admin:users_user_change", args=[user.pk]), changed)

    user.refresh_from_db()
    assert answer.status_code == 302
    assert (user.name, user.role, user.is_active) == ("Ines Ähre", "author", False)


@pytest.mark.django_db
def test_an_admin_deletes_a_user_with_a_key_and_keeps_posts_and_orders() -> None:
    user = make_user(Role.AUTHOR)
    post = make_post(author=make_author(user=user))
    order = Order.objects.create(user=user, total="1.00")
    services.create_api_key(actor=OPERATOR, email=user.email, name="blog")

    answer = browser(Role.ADMIN).post(reverse("admin:users_user_delete", args=[user.pk]), {"post": "yes"})

    assert (answer.status_code, User.objects.filter(pk=user.pk).exists()) == (302, False)
    post.author.refresh_from_db()
    order.refresh_from_db()
    assert (post.author.user, order.user, ApiKey.objects.count()) == (None, None, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("address", [USERS, NEW_USER, reverse("admin:orders_order_changelist")])
def test_an_editor_cannot_see_users_or_orders(address: str) -> None:
    answer = browser(Role.EDITOR).get(address)

    assert answer.status_code == 403


@pytest.mark.django_db
def test_an_editors_desk_shows_the_blog_and_own_keys() -> None:
    answer = browser(Role.EDITOR).get(reverse("admin:index"))

    assert answer.status_code == 200
    assert reverse("admin:blog_post_changelist") in answer.text
    assert KEYS in answer.text
    assert "/admin/users/user/" not in answer.text
    assert "/admin/orders/" not in answer.text


@pytest.mark.django_db
def test_a_reader_cannot_enter() -> None:
    user = make_user(Role.READER)
    user.set_password(PASSWORD)
    user.save()

    refused = Client().post(LOGIN, {"username": user.email, "password": PASSWORD})
    turned_away = browser(Role.READER).get(reverse("admin:index"))

    assert (refused.status_code, "for a staff account" in refused.text) == (200, True)
    assert (turned_away.status_code, turned_away["Location"]) == (302, f"{LOGIN}?next=/admin/")


@pytest.mark.django_db
def test_a_locked_admin_cannot_enter() -> None:
    user = make_user(Role.ADMIN, is_active=False)
    user.set_password(PASSWORD)
    user.save()
    client = Client()

    answer = client.post(LOGIN, {"username": user.email, "password": PASSWORD})

    assert answer.status_code == 200
    assert "_auth_user_id" not in client.session


@pytest.mark.django_db
def test_an_admin_revokes_the_selected_keys_at_once() -> None:
    user = make_user()
    revoked, kept = (
        services.create_api_key(actor=OPERATOR, email=user.email, name="x").rpartition("_")[0] for _ in range(2)
    )
    selected = [ApiKey.objects.get(prefix=revoked).pk]

    answer = browser(Role.ADMIN).post(KEYS, {"action": "revoke", "_selected_action": selected}, follow=True)

    assert f"Revoked: {revoked}." in answer.text
    assert ApiKey.objects.get(prefix=revoked).revoked_at is not None
    assert ApiKey.objects.get(prefix=kept).revoked_at is None


@pytest.mark.django_db
def test_nobody_changes_or_deletes_a_key_here() -> None:
    services.create_api_key(actor=OPERATOR, email=make_user().email, name="before")
    pk = ApiKey.objects.get().pk
    client = browser(Role.ADMIN)

    statuses = [
        client.post(reverse("admin:users_apikey_change", args=[pk]), {"name": "after"}).status_code,
        client.post(reverse("admin:users_apikey_delete", args=[pk]), {"post": "yes"}).status_code,
    ]

    assert statuses == [403, 403]
    assert ApiKey.objects.get().name == "before"


@pytest.mark.django_db
def test_no_page_shows_a_secret() -> None:
    user = make_user(Role.ADMIN)
    user.set_password(PASSWORD)
    user.save()
    key = services.create_api_key(actor=OPERATOR, email=user.email, name="blog")
    row = ApiKey.objects.get()
    client = browser(Role.ADMIN)

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


@pytest.mark.django_db
@pytest.mark.parametrize("address", [USERS, KEYS])
def test_a_list_can_be_searched(address: str) -> None:
    user = make_user(email="ines@example.invalid")
    services.create_api_key(actor=OPERATOR, email=user.email, name="blog")
    client = browser(Role.ADMIN)

    found, missed = client.get(address, {"q": "INES@"}), client.get(address, {"q": "nobody@"})

    assert ("ines@example.invalid" in found.text, "ines@example.invalid" in missed.text) == (True, False)
