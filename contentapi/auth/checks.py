"""System checks of JWT_PRIVATE_KEY and JWT_SECRET. Their messages never contain a key."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import Error, register

from contentapi.auth.jwk import KeyProblem
from contentapi.auth.signing_keys import parse_hmac_secret, parse_private_keys
from contentapi.conf.checks import RANDOM, START_TAG
from contentapi.conf.environment import build_error

KEY_HINT = "Set it to an RSA key in PEM, the same for every process: openssl genrsa 2048"


@register(START_TAG)
def check_signing_keys(**_: Any) -> Iterator[Error]:
    environment = settings.ENVIRONMENT
    if environment.database_url and not environment.jwt_private_key and not environment.jwt_secret:
        message = "JWT_PRIVATE_KEY is required when DATABASE_URL is set."
        yield build_error("JWT_PRIVATE_KEY", message, f"{KEY_HINT}. Or set JWT_SECRET.")
    try:
        parse_private_keys(environment.jwt_private_key)
    except KeyProblem as error:
        yield build_error("JWT_PRIVATE_KEY", f"JWT_PRIVATE_KEY {error}.", f"{KEY_HINT}.")
    try:
        parse_hmac_secret(environment.jwt_secret)
    except KeyProblem as error:
        yield build_error("JWT_SECRET", f"JWT_SECRET {error}.", f"Set it to random characters: {RANDOM}.")
