"""Where files are stored: a folder of this host, or a bucket of S3.

A name such as `media/7-0f3c/640.webp` is a path in the folder, the end of a key in the bucket, and the end of an
address. What begins with `media/` is public to clients that know it; all other names are for the service.

`FolderStorage` and `S3Storage` have the same operations. All raise `OSError` for a failure.
"""

import re
from datetime import datetime
from typing import NamedTuple

from contentapi.core.encryption import compute_keyed_hash

PUBLIC = "media/"
KEY = 16  # bytes of a key
PUBLIC_NAME = re.compile(r"media/[0-9]{1,19}-[0-9a-f]{32}/[0-9]{1,5}\.(?:webp|jpg|png|gif|avif)")
NAME = re.compile(
    r"[a-z]+/[a-z0-9-]{1,60}(?:/[a-z0-9]{1,20}\.[a-z]{1,4})?"
    r"|[a-z]+/(?:[a-z0-9-]{1,60}/)?\.[a-z0-9_]{1,20}\.partial"  # that was never completed
)
CONTENT_TYPES = {"jpg": "image/jpeg", **{each: f"image/{each}" for each in ("png", "webp", "avif", "gif")}}
CACHED_FOR_GOOD = "public, max-age=31536000, immutable"  # the address of a public file changes with its content
BLOCK = 64 * 1024  # bytes
PARTIAL = ".partial"  # the end of the name of a file that is being written


class StoredFile(NamedTuple):
    """A file of a list, perhaps one that was never completed."""

    name: str
    size: int
    changed_at: datetime


class Presigned(NamedTuple):
    """A request by which a client that has no credential stores one file."""

    url: str
    headers: dict[str, str]
    method: str = "PUT"


class Expected(NamedTuple):
    """What a client has announced of a file: its type, its size in bytes, and its SHA-256 in hexadecimal digits."""

    content_type: str
    size: int
    sha256: str

    def list_headers(self) -> dict[str, str]:
        """Return the headers with which the client sends the file."""
        return {"Content-Type": self.content_type, "Content-Length": str(self.size)}


def compute_key(pk: int, version: int) -> str:
    """Return the part of the names of public files that nobody can guess: another one for each version of an object."""
    return compute_keyed_hash("images", f"{pk}:{version}")[:KEY].hex()


def name_file(pk: int, key: str, name: str) -> str:
    """Return the name of a public file."""
    return f"{PUBLIC}{pk}-{key}/{name}"


def require_name(name: str) -> str:
    """Return the name. Raises `ValueError` for one that could lead elsewhere."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a file.")
    return name


def is_our_name(name: str) -> bool:
    """Return whether a file that was found can be one of ours, complete or not."""
    return NAME.fullmatch(name) is not None


def is_complete(name: str) -> bool:
    return is_our_name(name) and not name.endswith(PARTIAL)


def get_content_type(name: str) -> str:
    return CONTENT_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
