"""The pages for passwords by mail: one response for all emails, limits, policies, and nothing without EMAIL_URL."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from contentapi.core.identity import Role
from tests.admin_forms import log_in
from tests.behaviour.rate_limits import set_limits
from tests.factories import make_user
from tests.users.mails import FORGOTTEN, NEW, ask_for_link, find_link, turn_mail_on, wait_for_mails
from tests.users.oauth.flow import Browser, find_csrf_token, make_member
from tests.users.test_admin import NEW as NEW_USER
from tests.users.test_admin import press
from tests.users.test_login_limits import attempt
from users.models import User

LOGINS = ["/admin/login/", "/oauth/login"]
PAGES = [FORGOTTEN, "/admin/password/sent", "/admin/password/link", "/admin/password/new", "/admin/password/chosen"]


@pytest.fixture
def mail_is_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    turn_mail_on(settings)
    monkeypatch.setattr("users.mail.MAIL_DELAY", 0.0)


def describe(response: Any) -> tuple[int, bytes, dict[str, str]]:
    """Return what a caller sees. The request id is random, and `Expires` is the time."""
    headers = {name: value for name, value in response.headers.items() if name not in ("X-Request-ID", "Expires")}
    return response.status_code, response.content, headers


@pytest.mark.parametrize("page", PAGES)
def test_pages_do_not_exist_without_a_mail_server(page: str) -> None:
    assert [Client().get(page).status_code, Client().post(page).status_code] == [404, 404]


@pytest.mark.parametrize("page", LOGINS)
def test_login_links_to_the_page_with_a_mail_server_only(settings: Settings, page: str) -> None:
    assert FORGOTTEN not in Client().get(page).text
    turn_mail_on(settings)
    assert f'<a href="{FORGOTTEN}">Forgot your password?</a>' in Client().get(page).text


@pytest.mark.usefixtures("mail_is_on")
@pytest.mark.parametrize("values", [{}, {"is_active": False}, {"password": "!"}])
def test_answer_is_the_same_whether_the_email_is_known(values: dict[str, Any]) -> None:
    user = make_member()
    User.objects.filter(pk=user.pk).update(**values)
    emails = [user.email, user.email.upper(), "nobody@example.invalid"]

    answers = [describe(Client().post(FORGOTTEN, {"email": email})) for email in emails]

    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == 302
    assert len(wait_for_mails()) == (0 if values else 2)


@pytest.mark.usefixtures("mail_is_on")
@pytest.mark.parametrize("is_known", [True, False])
def test_requests_for_an_account_are_limited_like_wrong_passwords(settings: Settings, is_known: bool) -> None:  # noqa: FBT001
    set_limits(settings, login="2/minute")
    email = make_member().email if is_known else "nobody@example.invalid"

    assert [ask_for_link(email) for _ in range(3)] == [302, 302, 429]
    assert attempt("/admin/login/", email) == 200
    assert len(wait_for_mails()) == (2 if is_known else 0)


@pytest.mark.usefixtures("mail_is_on")
def test_form_needs_its_csrf_token_and_names_errors() -> None:
    browser = Browser()
    form = {"email": "no email", "csrfmiddlewaretoken": find_csrf_token(browser.client.get(FORGOTTEN))}

    assert browser.client.post(FORGOTTEN, {"email": "ines@example.invalid"}).status_code == 403
    assert "Enter a valid email address." in browser.client.post(FORGOTTEN, form).text


@pytest.mark.usefixtures("mail_is_on")
def test_token_is_in_no_address_after_the_first() -> None:
    user, browser = make_member(), Client()
    ask_for_link(user.email)
    [message] = wait_for_mails()
    link = find_link(message)

    opened = browser.get(link)
    page = browser.get(opened["Location"])

    assert (opened.status_code, page.status_code) == (302, 200)
    assert link.partition("token=")[2] not in opened["Location"] + page.text
    assert "no-store" in opened["Cache-Control"]
    assert "script-src" not in page["Content-Security-Policy"]
    assert "default-src 'none'" in page["Content-Security-Policy"]


@pytest.mark.usefixtures("mail_is_on")
def test_unusable_password_is_refused_in_the_form() -> None:
    user, browser = make_member(), Client()
    ask_for_link(user.email)
    page = browser.get(find_link(wait_for_mails()[0]))["Location"]

    for first, second, message in (
        ("short", "short", "This password is too short."),
        ("password1234", "password1234", "This password is too common."),
        (NEW, "another", "The two password fields didn"),
    ):
        response = browser.post(page, {"new_password1": first, "new_password2": second})
        assert (response.status_code, message in response.text) == (200, True)
    assert browser.post(page, {"new_password1": NEW, "new_password2": NEW}).status_code == 302


WITHOUT_PASSWORD = {**NEW_USER, "_invite": "Invite", "password1": "", "password2": ""}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("mail_is_on")
def test_admin_who_adds_a_user_without_a_password_invites_the_user() -> None:
    admin = log_in(make_user(Role.ADMIN))

    admin.post(reverse("admin:users_user_add"), WITHOUT_PASSWORD)

    [message] = wait_for_mails()
    assert message.to == [NEW_USER["email"]]
    user = User.objects.get(name=NEW_USER["name"])
    assert "The user gets a mail" in admin.get(reverse("admin:users_user_change", args=[user.pk])).text
    assert "was invited." in press(admin, user, "invite").text
    assert [message.to for message in wait_for_mails()] == [[user.email]]


@pytest.mark.usefixtures("mail_is_on")
def test_new_account_without_a_password_needs_the_button_that_invites() -> None:
    admin = log_in(make_user(Role.ADMIN))

    page = admin.get(reverse("admin:users_user_add")).text
    refused = admin.post(reverse("admin:users_user_add"), {**NEW_USER, "password1": "", "password2": ""})

    assert 'name="_invite"' in page
    assert refused.status_code == 200
    assert not User.objects.filter(name=NEW_USER["name"]).exists()
