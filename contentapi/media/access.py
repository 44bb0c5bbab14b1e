"""The storage that this deployment uses, and the addresses of its public files."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings

from contentapi.conf import conf
from contentapi.core.errors import Unavailable
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import StoredFile, is_complete

if TYPE_CHECKING:
    from contentapi.media.s3 import S3Storage

LOG = logging.getLogger("contentapi.media")
Storage: TypeAlias = "FolderStorage | S3Storage"


def get_storage() -> Storage:
    """Return the storage of CONTENTAPI_MEDIA."""
    return build_storage(conf.environment.contentapi_media)


def build_storage(place: str) -> Storage:
    """Return the storage at a place: a bucket such as `s3://bucket`, or a folder, by default in CONTENTAPI_VAR."""
    if place.startswith("s3://"):
        return build_bucket(place)
    return FolderStorage(settings.BASE_DIR / place if place else settings.VAR_DIR / "media")


@cache
def build_bucket(place: str) -> "S3Storage":
    """Return a bucket. A client is safe to use from several threads, and takes long to build."""
    from contentapi.media.s3 import S3Storage  # boto3 takes a third of a second: import it only if there is a bucket

    return S3Storage(place)


def find_media_folder() -> Path | None:
    """Return the folder of CONTENTAPI_MEDIA; None if it is a bucket."""
    storage = get_storage()
    return storage.folder if isinstance(storage, FolderStorage) else None


@contextmanager
def translate_storage_errors() -> Iterator[None]:
    """Raise `Unavailable` in place of an error of the storage, which the log names."""
    try:
        yield
    except OSError as error:
        LOG.exception("The storage of images has failed.")
        raise Unavailable from error


def put_file(name: str, file: IO[bytes]) -> None:
    """Store a file that a client has sent. Raises `Unavailable`."""
    with translate_storage_errors():
        get_storage().put(name, file)


def copy_files(source: Storage, target: Storage) -> Iterator[StoredFile | None]:
    """Copy the files that the target does not have in the same size. Yield each of these, and None for each other."""
    known = {file.name: file.size for file in target.list_files()}
    for file in source.list_files():
        copied = None
        if is_complete(file.name) and known.get(file.name) != file.size:
            with suppress(FileNotFoundError), source.open(file.name) as content:  # deleted since the list was read
                target.put(file.name, content)
                copied = file
        yield copied


def store_probe() -> None:
    """Store a small file, and delete it. Raises `OSError`, and what boto3 raises for settings that it cannot use."""
    name = f"probes/{uuid4().hex}"
    get_storage().put(name, BytesIO(b"probe"))
    get_storage().delete(name)


def get_media_url() -> str:
    """Return the address before the names of public files: that of a CDN or a bucket, or of this server."""
    return conf.environment.contentapi_media_url or conf.origin


def get_media_source() -> str:
    """Return the origin of public files for the policy of a page; empty for files of this server."""
    address = urlsplit(conf.environment.contentapi_media_url)
    return f"{address.scheme}://{address.netloc}" if address.netloc else ""
