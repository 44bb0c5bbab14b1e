"""Logging in at the admin's page and at the one for applications' users."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from contentapi import settings
from tests.users.oauth.flow import PASSWORD, Browser, make_member

pytestmark = pytest.mark.django_db

PAGES = ["/admin/login/", "/oauth/login"]
MOST = 10


def attempt(page: str, email: str, password: str = "wrong", address: str = "192.0.2.1") -> int:  # noqa: S107
    form = {"username": email, "password": password}
    return Client(REMOTE_ADDR=address).post(page, form).status_code


@pytest.mark.parametrize("page", PAGES)
def test_an_address_has_so_many_attempts_whoever_it_claims_to_be(page: str) -> None:
    attempts = [attempt(page, f"somebody{number}@example.invalid") for number in range(MOST + 1)]

    assert attempts == [200] * MOST + [429]
    assert attempt(page, "somebody@example.invalid", address="192.0.2.2") == 200


@pytest.mark.parametrize("page", PAGES)
def test_an_account_has_so_many_attempts_from_wherever_they_come(page: str) -> None:
    user = make_member("admin")
    wide = chr(ord(user.email[0]) + 0xFEE0) + user.email[1:]  # which Django's form takes for the same letter
    spellings = [user.email, user.email.upper(), f" {user.email} ", wide]

    attempts = [attempt(page, spellings[number % 4], address=f"192.0.2.{number}") for number in range(MOST + 1)]

    assert attempts == [200] * MOST + [429]
    assert attempt(page, user.email, PASSWORD, address="192.0.2.99") == 429


def test_both_pages_count_together() -> None:
    attempts = [attempt(PAGES[number % 2], "somebody@example.invalid") for number in range(MOST + 1)]

    assert attempts == [200] * MOST + [429]


def test_too_many_attempts_are_told_when_to_come_back() -> None:
    for _ in range(MOST):
        attempt("/oauth/login", "somebody@example.invalid")

    page = Client(REMOTE_ADDR="192.0.2.1").post("/oauth/login", {"username": "x", "password": "x"})

    assert 1 <= int(page["Retry-After"]) <= 60
    assert f"Wait {page['Retry-After']} seconds" in page.content.decode()
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["RateLimit"].startswith('"login";r=0;')


def test_what_is_refused_for_an_account_is_not_counted_for_the_address() -> None:
    user = make_member()
    for number in range(MOST):
        attempt("/oauth/login", user.email, address=f"192.0.2.{100 + number}")

    refused = [attempt("/oauth/login", user.email) for _ in range(MOST)]

    assert refused == [429] * MOST
    assert attempt("/oauth/login", "somebody@example.invalid") == 200


def test_a_page_is_looked_at_freely() -> None:
    assert {Client().get("/oauth/login").status_code for _ in range(3 * MOST)} == {200}


@pytest.mark.parametrize(("email", "password"), [("nobody@example.invalid", "x"), ("", ""), ("\0", "\0")])
def test_a_wrong_login_says_nothing_of_what_was_wrong(email: str, password: str) -> None:
    page = Browser().log_in("/oauth/login", email, password)

    assert page.status_code == 200
    assert "do not belong to an account that may log in" in page.content.decode()


def test_who_logs_in_goes_on_within_this_site_only() -> None:
    user = make_member()

    assert Browser().log_in("/oauth/login?next=/oauth/authorize%3Fx", user.email, PASSWORD)["Location"].endswith("?x")
    assert (
        Browser().log_in("/oauth/login?next=https://evil.invalid/", user.email, PASSWORD)["Location"] == "/oauth/login"
    )


def test_who_comes_without_an_application_is_told_who_they_are_and_may_leave() -> None:
    user, browser = make_member(), Browser()
    browser.log_in("/oauth/login", user.email, PASSWORD)

    page = browser.client.get("/oauth/login").content.decode()
    form = {"csrfmiddlewaretoken": page.split('csrfmiddlewaretoken" value="')[1].split('"')[0]}
    browser.client.post("/oauth/logout", form)

    assert user.email in page
    assert "<h1>Log in</h1>" in browser.client.get("/oauth/login").content.decode()


def test_a_password_is_kept_as_argon2() -> None:
    assert make_member().password.startswith("argon2$argon2id$")


def test_a_copy_of_the_database_lets_nobody_into_a_session() -> None:
    browser = Browser(make_member("admin"))
    cookie = browser.client.cookies["sessionid"].value

    kept = Session.objects.get().session_key

    assert browser.client.get("/admin/").status_code == 200
    assert kept != cookie
    thief = Client()
    thief.cookies["sessionid"] = kept
    assert thief.get("/admin/").status_code == 302


def test_logging_out_ends_the_session_for_every_copy_of_its_cookie() -> None:
    browser = Browser(make_member("admin"))
    copy = Client()
    copy.cookies["sessionid"] = browser.client.cookies["sessionid"].value
    assert copy.get("/admin/").status_code == 200

    browser.client.logout()

    assert copy.get("/admin/").status_code == 302
    assert not Session.objects.exists()


def test_the_cookies_are_out_of_reach_of_scripts() -> None:
    browser, user = Browser(), make_member()

    answer = browser.log_in("/oauth/login", user.email, PASSWORD)

    assert answer.cookies["sessionid"]["httponly"]
    assert answer.cookies["sessionid"]["samesite"] == "Lax"
    assert settings.SESSION_COOKIE_SECURE == settings.HTTPS
