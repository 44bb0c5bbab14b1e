"""The public halves of the keys that sign bearer tokens (RFC 7517), for whoever verifies them elsewhere."""

import json

from contentapi.auth.signing_keys import keys
from contentapi.http.documents import published

# Seconds. A new key signs at once, so verifiers must hear of it within a minute: servers look for it every few seconds,
# and this is for the caches in between.
MAX_AGE = 30


def key_set() -> bytes:
    return json.dumps({"keys": [key.public_jwk for key in keys().published()]}).encode()


jwks = published("application/json", key_set, {"Cache-Control": f"public, max-age={MAX_AGE}"})
