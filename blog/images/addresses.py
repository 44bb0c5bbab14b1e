"""The names of the public files of an image, which are also their addresses: `media/<id>-<key>/<width>.<extension>`."""

from contentapi.core.encryption import compute_keyed_hash
from contentapi.media.storage import PUBLIC

KEY = 16  # bytes of the part that nobody can guess


def compute_key(pk: int, version: int) -> str:
    """Return the key of the files that belong to a version of an image: another one than that of any other files."""
    return compute_keyed_hash("images", f"{pk}:{version}")[:KEY].hex()


def name_file(pk: int, key: str, name: str) -> str:
    """Return the name of a public file in the storage."""
    return f"{PUBLIC}{pk}-{key}/{name}"
