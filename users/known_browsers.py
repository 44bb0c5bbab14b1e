"""Browsers that an account has logged in with before, recognised by a signed cookie.

Somebody who guesses an account's password from many addresses uses up the account's limit. A known browser does not
count against that limit, so the guesser cannot lock the account's owner out. The cookie is not a credential: it only
chooses which login limit applies.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

COOKIE = "known_browser"
LIFETIME = 180 * 24 * 3600  # seconds
SALT = "users.known_browsers"


def find_known_browser(request: HttpRequest, account: str) -> str | None:
    """Return the id of the browser if this account has logged in with it before, otherwise None."""
    try:
        browser, digest = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None
    return browser if digest == account_digest(account) else None


def remember_browser(response: HttpResponseBase, account: str) -> None:
    """Set the cookie that makes a browser known to an account that has just logged in."""
    response.set_cookie(
        COOKIE,
        signing.dumps([secrets.token_hex(16), account_digest(account)], salt=SALT),
        max_age=LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def account_digest(account: str) -> str:
    """Return a digest of the account's email, so that the cookie does not reveal the email."""
    return salted_hmac(SALT, account, algorithm="sha256").hexdigest()
