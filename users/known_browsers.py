"""Browsers that an account has logged in with before, recognised by a signed cookie.

Somebody who guesses an account's password from many addresses uses up the account's limit. A known browser does not
count against that limit, so the guesser cannot lock the account's owner out. The cookie is not a credential: it only
chooses which login limit applies. A new password makes every browser unknown again.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from contentapi.conf.timeouts import KNOWN_BROWSER_LIFETIME
from contentapi.core.encryption import compute_keyed_hash
from users.models import User

COOKIE = "known_browser"
MAX_ACCOUNTS = 5  # of one browser, which people may share
SALT = "users.known_browsers"


def find_known_browser(request: HttpRequest, user: User) -> str | None:
    """Return the id of the browser if this user has logged in with it before, otherwise None."""
    browser, digests = read_cookie(request)
    return browser if hash_account_and_password(user) in digests else None


def remember_browser(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie that makes a browser known to a user who has just logged in."""
    browser, digests = read_cookie(request)
    digest = hash_account_and_password(user)
    latest = [digest, *(other for other in digests if other != digest)][:MAX_ACCOUNTS]
    response.set_cookie(
        COOKIE,
        signing.dumps([browser or secrets.token_hex(16), latest], salt=SALT),
        max_age=KNOWN_BROWSER_LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def read_cookie(request: HttpRequest) -> tuple[str, list[str]]:
    """Return the id of the browser and the digests of its accounts; both are empty without a cookie of ours."""
    try:
        browser, digests = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=KNOWN_BROWSER_LIFETIME)
    except signing.BadSignature:
        return "", []
    return browser, digests


def hash_account_and_password(user: User) -> str:
    """Return a digest of the account and its password's hash, so that the cookie reveals neither."""
    return compute_keyed_hash(SALT, f"{user.pk}|{user.get_session_auth_hash()}").hex()
