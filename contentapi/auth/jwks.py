"""The public halves of the keys that sign bearer tokens (RFC 7517), for whoever verifies them elsewhere."""

import json

from contentapi.auth.signing_keys import get_key_ring
from contentapi.http.documents import document_view

# Seconds. A new key signs at once, so verifiers must hear of it within a minute: servers look for it every few seconds,
# and this is for the caches in between.
MAX_AGE = 30


def render_key_set() -> bytes:
    return json.dumps({"keys": [key.public_jwk for key in get_key_ring().public_keys()]}).encode()


jwks = document_view("application/json", render_key_set, {"Cache-Control": f"public, max-age={MAX_AGE}"})
