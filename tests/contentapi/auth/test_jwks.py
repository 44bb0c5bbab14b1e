"""Who may know the keys of bearer tokens: their public halves are for everybody."""

import json
from typing import Any

import jwt as pyjwt
from django.test import Client
from msgspec import structs
from pytest_django import Settings

from contentapi.auth.jwk import Key

FIRST, SECOND = Key.generate(), Key.generate()
SECRET = "a secret of thirty-two bytes, at least"


def use_keys(settings: Settings, private_key: str, secret: str = "") -> None:
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, jwt_private_key=private_key, jwt_secret=secret)


def published() -> Any:
    response = Client().get("/.well-known/jwks.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    return json.loads(response.content)


def test_the_public_halves_are_published_for_half_a_minute_and_nothing_secret(settings: Settings) -> None:
    use_keys(settings, FIRST.private_pem + SECOND.public_pem, SECRET)

    response = Client().get("/.well-known/jwks.json")

    assert response["Cache-Control"] == "public, max-age=30"
    assert json.loads(response.content) == {"keys": [FIRST.public_jwk, SECOND.public_jwk]}
    assert {name for key in published()["keys"] for name in key} == {"kty", "kid", "use", "alg", "n", "e"}


def test_another_library_reads_what_is_published(settings: Settings) -> None:
    use_keys(settings, FIRST.private_pem)

    keys = pyjwt.PyJWKSet.from_dict(published())

    assert keys[FIRST.kid].algorithm_name == "RS256"


def test_a_secret_is_not_published(settings: Settings) -> None:
    use_keys(settings, "", SECRET)

    assert published() == {"keys": []}


def test_the_keys_of_a_checkout_are_published() -> None:
    keys = published()["keys"]

    assert keys
    assert keys == published()["keys"]


def test_the_keys_are_read_and_nothing_else() -> None:
    head, posted = (
        Client().head("/.well-known/jwks.json"),
        Client(enforce_csrf_checks=True).post("/.well-known/jwks.json"),
    )

    assert (head.status_code, head.content) == (200, b"")
    assert (posted.status_code, posted["Allow"], posted["X-Error-Code"]) == (
        405,
        "GET, HEAD, OPTIONS",
        "METHOD_NOT_ALLOWED",
    )
    assert posted.json() == {"error": "POST is not allowed here; allowed: GET, HEAD, OPTIONS."}
