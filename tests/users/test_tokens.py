"""Issued tokens: claims, lifetime, and which tokens are accepted."""

import time
from pathlib import Path

import jwt as pyjwt
import pytest
from pytest_django import Settings

from contentapi.auth.signing_keys import get_key_ring
from contentapi.conf.timeouts import ACCESS_TOKEN_LIFETIME, TOKEN_MAX_LIFETIME
from contentapi.core.errors import Invalid
from contentapi.core.identity import Role, Scope
from tests.factories import make_user
from users.tokens import AUDIENCE, issue_token, read_claims


def test_token_contains_the_user_the_scopes_and_the_times() -> None:
    user = make_user(Role.AUTHOR, name="Inés")
    before = int(time.time())

    claims = read_claims(issue_token(user=user, scopes=[Scope.POSTS_WRITE, Scope.POSTS_READ, Scope.POSTS_READ]))

    assert claims is not None
    issued, jti = claims["iat"], claims["jti"]
    assert before <= issued <= time.time()
    assert len(jti) == 32
    assert claims == {
        "iss": "http://localhost:8000",
        "aud": AUDIENCE,
        "sub": str(user.pk),
        "name": "Inés",
        "role": "author",
        "scope": "posts:read posts:write",
        "iat": issued,
        "exp": issued + ACCESS_TOKEN_LIFETIME,
        "jti": jti,
    }


def test_header_is_that_of_an_access_token() -> None:
    token = issue_token(user=make_user())

    assert pyjwt.get_unverified_header(token) == {
        "alg": "RS256",
        "kid": get_key_ring().get_signing_key().kid,
        "typ": "at+jwt",
    }


def test_additional_claims_do_not_replace_the_standard_claims() -> None:
    user = make_user()

    claims = read_claims(
        issue_token(
            user=user, issuer="https://localhost", jti="chosen", client_id="news", sub="1", role="admin", aud="x"
        )
    )

    assert claims is not None
    assert (claims["iss"], claims["jti"], claims["client_id"]) == ("https://localhost", "chosen", "news")
    assert (claims["sub"], claims["role"], claims["aud"]) == (str(user.pk), "reader", AUDIENCE)


@pytest.mark.parametrize("ttl", [1, TOKEN_MAX_LIFETIME])
def test_lifetime_may_be_from_one_second_to_one_day(ttl: int) -> None:
    claims = read_claims(issue_token(user=make_user(), ttl=ttl))

    assert claims is not None
    assert claims["exp"] - claims["iat"] == ttl


@pytest.mark.parametrize("ttl", [0, -1, TOKEN_MAX_LIFETIME + 1])
def test_lifetime_out_of_range_is_invalid(ttl: int) -> None:
    with pytest.raises(Invalid) as raised:
        issue_token(user=make_user(), ttl=ttl)

    assert raised.value.fields == {"ttl": ["From 1 to 86400 seconds."]}


def test_locked_user_gets_no_token() -> None:
    with pytest.raises(Invalid) as raised:
        issue_token(user=make_user(is_active=False))

    assert raised.value.fields == {"user": ["This account is locked."]}


def test_public_url_is_the_issuer(settings: Settings) -> None:
    before = issue_token(user=make_user())
    settings.PUBLIC_URL = "https://api.example.com"

    claims = read_claims(issue_token(user=make_user()))

    assert claims is not None
    assert claims["iss"] == "https://api.example.com"
    assert read_claims(before) is None


def test_token_of_another_checkout_is_read_as_none(settings: Settings, tmp_path: Path) -> None:
    token = issue_token(user=make_user())

    settings.VAR_DIR = tmp_path

    assert read_claims(token) is None
