"""Signing keys that are generated once, and their ids, for the tests of keys."""

from functools import cache

from cryptography.hazmat.primitives import serialization

from contentapi.auth.jwk import Key
from contentapi.auth.signing_keys import KeyRing

GENERATE = Key.generate


@cache
def generate_key(number: int) -> Key:  # noqa: ARG001 - the number is the key of the cache
    return GENERATE()


read_key = cache(serialization.load_pem_private_key)


def get_key_ids(keys: KeyRing) -> list[str]:
    return [key.kid for key in keys.list_rs256_keys()]
