"""Signed addresses of this server, at which a client without a credential stores one file: what S3 calls presigned."""

import hmac
import time
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

import msgspec

from contentapi.conf import conf
from contentapi.core.encryption import compute_keyed_hash
from contentapi.core.errors import Forbidden
from contentapi.media.storage import Expected, Presigned

PURPOSE = "upload"
KEYS = {"expires", "size", "type", "sha256", "signature"}


def sign_upload(name: str, expected: Expected, seconds: int) -> Presigned:
    """Return the request that stores the expected file under a name."""
    expires = str(int(time.time()) + seconds)
    values = {"expires": expires, "size": str(expected.size), "type": expected.content_type, "sha256": expected.sha256}
    query = urlencode({**values, "signature": compute_signature(name, values)})
    return Presigned(f"{conf.origin}/{name}?{query}", expected.list_headers())


def compute_signature(name: str, values: Mapping[str, str]) -> str:
    return compute_keyed_hash(PURPOSE, msgspec.json.encode([name, *sorted(values.items())]).decode()).hex()


def read_signed_upload(name: str, query: str) -> Expected:
    """Return what may be stored under a name. Raises `Forbidden` for an address that is expired or not our own."""
    values = dict(parse_qsl(query, keep_blank_values=True))
    signature = values.pop("signature", "")
    if values.keys() != KEYS - {"signature"}:
        raise Forbidden("The address of the upload is incomplete.")
    if not hmac.compare_digest(signature.encode(), compute_signature(name, values).encode()):
        raise Forbidden("The signature of the address is invalid.")
    if int(values["expires"]) <= time.time():
        raise Forbidden("The address of the upload has expired. Request another one.")
    return Expected(values["type"], int(values["size"]), values["sha256"])
