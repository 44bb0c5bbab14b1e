"""Let bearer tokens be signed by a new key."""

from typing import Any

from django.core.management.base import BaseCommand

from contentapi.auth.jwk import Key
from contentapi.auth.signing_keys import KeyDirectory, build_rotated_private_key_variable, get_key_ring

ADVICE = (
    "Above is the new value of JWT_PRIVATE_KEY: a new key, which signs, and what verifies the tokens of before. Set it "
    "for every process and restart them. Where they restart one after another, first append the new key to the old "
    "value, so that all can verify before one signs. A day later all but the first key may go."
)


class Command(BaseCommand):
    help = (
        "Make a new key to sign bearer tokens with; the old one verifies until its last tokens have expired, a day at "
        "most. Keys that are kept in var/jwt/: prints the new key's id, and running servers know the key at once. Keys "
        "of the environment: changes nothing, and prints the new value for JWT_PRIVATE_KEY, a secret."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        ring = get_key_ring()
        if isinstance(ring, KeyDirectory):
            self.stdout.write(ring.rotate().kid)
        else:
            self.stdout.write(build_rotated_private_key_variable(Key.generate(), ring), ending="")
            self.stderr.write(ADVICE, str)
