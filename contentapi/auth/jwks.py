"""Serve /.well-known/jwks.json: the public keys with which other services verify our JWTs (RFC 7517)."""

import json

from contentapi.auth.signing_keys import get_key_ring
from contentapi.conf.timeouts import KEY_SET_MAX_AGE
from contentapi.http.documents import build_document_view

# Seconds. A new key signs within seconds, so verifiers must get it within a minute, also through caches.


def render_key_set() -> bytes:
    return json.dumps({"keys": [key.public_jwk for key in get_key_ring().list_rs256_keys()]}).encode()


jwks = build_document_view("application/json", render_key_set, {"Cache-Control": f"public, max-age={KEY_SET_MAX_AGE}"})
