"""The storage that this deployment uses, and the addresses of its public files."""

from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from contentapi.conf import conf
from contentapi.media.folder import FolderStorage
from contentapi.media.storage import Storage

S3 = "s3://"


def get_storage() -> Storage:
    """Return the storage of CONTENTAPI_MEDIA."""
    place = conf.environment.contentapi_media
    return build_bucket(place) if place.startswith(S3) else FolderStorage(get_folder())


def get_folder() -> Path:
    """Return the folder of CONTENTAPI_MEDIA, by default `media` in that of CONTENTAPI_VAR."""
    place = conf.environment.contentapi_media
    return settings.BASE_DIR / place if place else settings.VAR_DIR / "media"


@cache
def build_bucket(place: str) -> Storage:
    """Return a bucket. A client is safe to use from several threads, and takes long to build."""
    from contentapi.media.s3 import S3Storage  # boto3 takes a third of a second: import it only if there is a bucket

    return S3Storage(place)


def get_media_url() -> str:
    """Return the address before the names of public files: that of a CDN or a bucket, or of this server."""
    return conf.environment.contentapi_media_url or conf.origin


def get_media_url_of_pages() -> str:
    """Return the address for pages of this server, which may be open under another origin: empty for its own files."""
    return conf.environment.contentapi_media_url


def get_media_source() -> str:
    """Return the origin of public files for the policy of a page; empty for files of this server."""
    address = urlsplit(conf.environment.contentapi_media_url)
    return f"{address.scheme}://{address.netloc}" if address.netloc else ""
