from typing import Any

from contentapi.auth.jwk import Key
from contentapi.auth.signing_keys import KeyDirectory, build_rotated_private_key_variable, get_key_ring
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR
from contentapi.monitoring.audit import Audit

ADVICE = (
    "Above is the new value of JWT_PRIVATE_KEY: the new signing key, followed by the public keys that verify existing "
    "tokens. Set it for every process and restart them. If they restart one after another, first append the new key to "
    "the old value, so that all processes can verify before one signs. After a day, remove all keys but the first."
)


class Command(OperatorCommand):
    help = (
        "Create a new key that signs bearer tokens. The old key verifies until its last tokens have expired, at most a "
        "day. If the keys are in var/jwt/, the command prints the id of the new key, and running servers use it within "
        "seconds. If they are in the environment, it changes nothing and prints the new value of JWT_PRIVATE_KEY, a "
        "secret."
    )

    def handle(self, **_: Any) -> None:
        ring = get_key_ring()
        if isinstance(ring, KeyDirectory):
            self.stdout.write(ring.rotate().kid)
        else:
            key = Key.generate()
            self.stdout.write(build_rotated_private_key_variable(key, ring), ending="")
            Audit.JWT_KEY_ROTATED.record(OPERATOR, "jwt_key", key.kid, storage="environment")
            self.info(ADVICE)
