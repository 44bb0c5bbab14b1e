"""Signed addresses of this server, at which a client without a credential stores one file: what S3 calls presigned."""

from urllib.parse import parse_qsl, urlencode

from django.core import signing

from contentapi.conf import conf
from contentapi.conf.timeouts import UPLOAD_LIFETIME
from contentapi.core.errors import Forbidden
from contentapi.media.storage import Expected, Presigned

PURPOSE = "contentapi.upload:"


def sign_upload(name: str, expected: Expected) -> Presigned:
    """Return the request that stores the expected file under a name."""
    query = urlencode({"signature": signing.dumps(expected, salt=PURPOSE + name)})
    return Presigned(f"{conf.origin}/{name}?{query}", expected.list_headers())


def read_signed_upload(name: str, query: str) -> Expected:
    """Return what may be stored under a name. Raises `Forbidden` for an address that is expired or not our own."""
    signature = dict(parse_qsl(query)).get("signature", "")
    try:
        return Expected(*signing.loads(signature, salt=PURPOSE + name, max_age=UPLOAD_LIFETIME))
    except signing.SignatureExpired:
        raise Forbidden("The address of the upload has expired. Request another one.") from None
    except signing.BadSignature:
        raise Forbidden("The signature of the address is invalid.") from None
