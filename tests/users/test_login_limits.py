"""The limits of attempts to log in, and the browsers that an account knows."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from pytest_django import Settings

from tests.behaviour.rate_limits import set_limits
from tests.users.oauth.flow import PASSWORD, make_member

PAGES = ["/admin/login/", "/oauth/login"]
MOST = 10  # for an account from an address
MOST_OF_ADDRESS = 30


def post_login(browser: Client, email: str, password: str) -> int:
    return browser.post("/oauth/login", {"username": email, "password": password}).status_code


def attempt(page: str, email: str, password: str = "wrong", address: str = "192.0.2.1") -> int:  # noqa: S107
    form = {"username": email, "password": password}
    return Client(REMOTE_ADDR=address).post(page, form).status_code


def attempt_and_close(email: str) -> int:
    try:
        return attempt("/oauth/login", email)
    finally:
        connection.close()


@pytest.mark.parametrize("page", PAGES)
def test_wrong_passwords_for_an_account_from_one_address_are_limited(settings: Settings, page: str) -> None:
    set_limits(settings, login="2/minute")
    user = make_member("admin")

    assert [attempt(page, user.email) for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("page", PAGES)
def test_account_limited_at_one_address_can_log_in_from_another(settings: Settings, page: str) -> None:
    set_limits(settings, login="2/minute")
    user = make_member("admin")
    for _ in range(3):
        attempt(page, user.email)

    assert attempt(page, user.email, PASSWORD) == 429
    assert attempt(page, user.email, PASSWORD, address="192.0.2.2") == 302


def test_wrong_passwords_from_one_address_are_limited_over_all_accounts() -> None:
    attempts = [attempt(PAGES[1], f"somebody{number}@example.invalid") for number in range(MOST_OF_ADDRESS + 1)]

    assert attempts == [200] * MOST_OF_ADDRESS + [429]
    assert [attempt(page, "somebody@example.invalid") for page in PAGES] == [429] * 2
    assert attempt(PAGES[0], "somebody@example.invalid", address="192.0.2.2") == 200


@pytest.mark.parametrize("page", PAGES)
def test_every_spelling_of_an_email_counts_for_the_same_account(settings: Settings, page: str) -> None:
    set_limits(settings, login="4/minute")
    user = make_member("admin")
    wide = chr(ord(user.email[0]) + 0xFEE0) + user.email[1:]  # which Django's form takes for the same letter
    spellings = [user.email, user.email.upper(), f" {user.email} ", wide]

    attempts = [attempt(page, email) for email in (*spellings, *spellings)]

    assert attempts == [200] * 4 + [429] * 4


def test_wrong_passwords_from_many_addresses_are_limited_for_the_account(settings: Settings) -> None:
    set_limits(settings, login_account="3/hour")
    user = make_member()

    attempts = [attempt("/oauth/login", user.email, address=f"192.0.2.{number}") for number in range(4)]

    assert attempts == [200] * 3 + [429]
    assert attempt("/oauth/login", user.email, PASSWORD, address="192.0.2.99") == 429
    assert attempt("/oauth/login", make_member().email, PASSWORD, address="192.0.2.99") == 302


def test_known_browser_can_log_in_while_the_account_is_limited(settings: Settings) -> None:
    set_limits(settings, login_account="2/hour", login_address="2/minute")
    user, browser = make_member(), Client(REMOTE_ADDR="192.0.2.1")
    assert post_login(browser, user.email, PASSWORD) == 302
    browser.cookies.pop("sessionid")
    for _ in range(3):
        attempt("/oauth/login", user.email)
    assert attempt("/oauth/login", user.email, PASSWORD) == 429

    assert post_login(browser, user.email, PASSWORD) == 302


def test_limit_of_a_known_browser_is_shared_by_all_its_addresses(settings: Settings) -> None:
    set_limits(settings, login="2/minute")
    user, browser = make_member(), Client()
    post_login(browser, user.email, PASSWORD)

    attempts = []
    for number in range(3):
        browser.defaults["REMOTE_ADDR"] = f"192.0.2.{number}"
        attempts.append(post_login(browser, user.email, "wrong"))

    assert attempts == [200, 200, 429]


def test_known_browser_is_known_to_its_account_only(settings: Settings) -> None:
    set_limits(settings, login_account="1/hour")
    user, other, browser = make_member(), make_member(), Client()
    post_login(browser, user.email, PASSWORD)

    attempts = [post_login(browser, other.email, "wrong") for _ in range(2)]

    assert attempts == [200, 429]


def test_new_password_makes_every_browser_unknown(settings: Settings) -> None:
    set_limits(settings, login_account="1/hour")
    user, browser = make_member(), Client()
    post_login(browser, user.email, PASSWORD)
    browser.cookies.pop("sessionid")
    user.set_password("another long passphrase")
    user.save()

    attempts = [post_login(browser, user.email, "wrong") for _ in range(2)]

    assert attempts == [200, 429]


@pytest.mark.parametrize("cookie", ["x", "W10:1vX:x", "\0"])
def test_forged_cookie_does_not_make_a_browser_known(settings: Settings, cookie: str) -> None:
    set_limits(settings, login_account="1/hour")
    user, browser = make_member(), Client()
    browser.cookies["known_browser"] = cookie

    attempts = [post_login(browser, user.email, "wrong") for _ in range(2)]

    assert attempts == [200, 429]


def test_known_browser_cookie_is_no_credential_and_hides_the_email() -> None:
    user, browser = make_member("admin"), Client()
    post_login(browser, user.email, PASSWORD)
    cookie = browser.cookies["known_browser"]

    stranger = Client()
    stranger.cookies["known_browser"] = cookie.value

    assert stranger.get("/admin/").status_code == 302
    assert user.email not in signing.b64_decode(cookie.value.split(":")[0].encode()).decode()
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


@pytest.mark.parametrize("page", PAGES)
def test_successful_login_is_not_counted(settings: Settings, page: str) -> None:
    set_limits(settings, login_account="3/hour", login_address="3/minute", login="3/minute")
    user = make_member("admin")

    attempts = [attempt(page, user.email, password) for password in ["wrong", PASSWORD, "wrong", PASSWORD, PASSWORD]]

    assert attempts == [200, 302, 200, 302, 302]
    assert [attempt(page, user.email) for _ in range(2)] == [200, 429]


@pytest.mark.django_db(transaction=True)
def test_concurrent_wrong_passwords_do_not_exceed_the_limit(settings: Settings) -> None:
    set_limits(settings, login="5/minute")
    user = make_member()

    with ThreadPoolExecutor(4) as threads:
        attempts = list(threads.map(attempt_and_close, [user.email] * 12))

    assert sorted(attempts) == [200] * 5 + [429] * 7


def test_refusal_states_the_wait_and_the_alternative() -> None:
    for _ in range(MOST):
        attempt("/oauth/login", "somebody@example.invalid")

    form = {"username": "somebody@example.invalid", "password": "x"}
    page = Client(REMOTE_ADDR="192.0.2.1").post("/oauth/login", form)

    assert 1 <= int(page["Retry-After"]) <= 60
    assert f"Wait {page['Retry-After']} seconds" in page.content.decode()
    assert "a browser in which you have logged in to this account before" in page.content.decode()
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["RateLimit"].startswith('"login";r=0;')
    assert page["RateLimit-Policy"] == '"login";q=10;w=60'


def test_attempt_refused_by_the_account_is_not_counted_for_the_address(settings: Settings) -> None:
    set_limits(settings, login_account="1/hour", login_address="2/minute")
    user = make_member()
    attempt("/oauth/login", user.email, address="192.0.2.100")

    refused = [attempt("/oauth/login", user.email) for _ in range(3)]

    assert refused == [429] * 3
    assert attempt("/oauth/login", "somebody@example.invalid") == 200
