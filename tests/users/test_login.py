"""The login pages of the admin site and of OAuth: redirects, passwords and sessions."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from contentapi import settings as project
from contentapi.core.identity import OPERATOR
from tests.users.oauth.flow import PASSWORD, Browser, make_member
from users.services import lock_user, unlock_user


@pytest.mark.parametrize(("email", "password"), [("nobody@example.invalid", "x"), ("", ""), ("\0", "\0")])
def test_failed_login_does_not_reveal_the_reason(email: str, password: str) -> None:
    page = Browser().log_in("/oauth/login", email, password)

    assert page.status_code == 200
    assert "do not belong to an account that may log in" in page.content.decode()


def test_login_redirects_within_this_site_only() -> None:
    user = make_member()

    assert Browser().log_in("/oauth/login?next=/oauth/authorize%3Fx", user.email, PASSWORD)["Location"].endswith("?x")
    assert (
        Browser().log_in("/oauth/login?next=https://evil.invalid/", user.email, PASSWORD)["Location"] == "/oauth/login"
    )


def test_login_page_without_an_application_shows_the_user_and_a_logout() -> None:
    user, browser = make_member(), Browser()
    browser.log_in("/oauth/login", user.email, PASSWORD)

    page = browser.client.get("/oauth/login").content.decode()
    form = {"csrfmiddlewaretoken": page.split('csrfmiddlewaretoken" value="')[1].split('"')[0]}
    browser.client.post("/oauth/logout", form)

    assert user.email in page
    assert "<h1>Log in</h1>" in browser.client.get("/oauth/login").content.decode()


def test_session_key_in_the_database_does_not_log_in() -> None:
    browser = Browser(make_member("admin"))
    cookie = browser.client.cookies["sessionid"].value

    kept = Session.objects.get().session_key

    assert browser.client.get("/admin/").status_code == 200
    assert kept != cookie
    thief = Client()
    thief.cookies["sessionid"] = kept
    assert thief.get("/admin/").status_code == 302


def test_logout_ends_the_session_for_every_copy_of_its_cookie() -> None:
    browser = Browser(make_member("admin"))
    copy = Client()
    copy.cookies["sessionid"] = browser.client.cookies["sessionid"].value
    assert copy.get("/admin/").status_code == 200

    browser.client.logout()

    assert copy.get("/admin/").status_code == 302
    assert not Session.objects.exists()


def test_session_cookie_is_httponly_and_samesite_lax() -> None:
    browser, user = Browser(), make_member()

    response = browser.log_in("/oauth/login", user.email, PASSWORD)

    assert response.cookies["sessionid"]["httponly"]
    assert response.cookies["sessionid"]["samesite"] == "Lax"
    assert project.SESSION_COOKIE_SECURE == project.HTTPS


def test_session_from_before_a_lock_is_not_valid_with_a_new_secret_key(settings: Settings) -> None:
    user, client = make_member("editor"), Client()
    lock_user(actor=OPERATOR, user_id=str(user.pk))
    unlock_user(actor=OPERATOR, user_id=str(user.pk))
    user.refresh_from_db()
    client.force_login(user)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10

    assert client.get("/admin/").status_code == 200

    lock_user(actor=OPERATOR, user_id=str(user.pk))
    unlock_user(actor=OPERATOR, user_id=str(user.pk))

    assert client.get("/admin/").status_code == 302
