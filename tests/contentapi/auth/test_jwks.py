"""The key set at /.well-known/jwks.json: public keys only."""

import json
from typing import Any

import jwt as pyjwt
from django.test import Client
from msgspec import structs
from pytest_django import Settings

from tests.contentapi.auth.tokens import OTHER, RSA

SECRET = "a secret of thirty-two bytes, at least"


def use_keys(settings: Settings, private_key: str, secret: str = "") -> None:
    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, jwt_private_key=private_key, jwt_secret=secret)


def get_key_set() -> Any:
    response = Client().get("/.well-known/jwks.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    return json.loads(response.content)


def test_key_set_has_the_public_keys_only_and_is_cacheable(settings: Settings) -> None:
    use_keys(settings, RSA.private_pem + OTHER.public_pem, SECRET)

    response = Client().get("/.well-known/jwks.json")

    assert response["Cache-Control"] == "public, max-age=30"
    assert json.loads(response.content) == {"keys": [RSA.public_jwk, OTHER.public_jwk]}
    assert {name for key in get_key_set()["keys"] for name in key} == {"kty", "kid", "use", "alg", "n", "e"}


def test_other_library_reads_the_key_set(settings: Settings) -> None:
    use_keys(settings, RSA.private_pem)

    keys = pyjwt.PyJWKSet.from_dict(get_key_set())

    assert keys[RSA.kid].algorithm_name == "RS256"


def test_generated_keys_are_in_the_key_set() -> None:
    keys = get_key_set()["keys"]

    assert keys
    assert keys == get_key_set()["keys"]
