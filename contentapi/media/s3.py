"""Files in a bucket of S3, or of a service with the same interface."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import parse_qsl, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from contentapi.conf.timeouts import S3_TIMEOUT, UPLOAD_LIFETIME
from contentapi.media.storage import (
    BLOCK,
    CACHED_FOR_GOOD,
    PUBLIC,
    Expected,
    Presigned,
    StoredFile,
    get_content_type,
    require_name,
)

MISSING = {"404", "NoSuchKey", "NotFound"}


class S3Storage:
    """A bucket, as `s3://bucket/prefix?endpoint=https://…&region=…`.

    boto3 finds the credentials: in its environment variables, its files, or the role of the machine.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.bucket, self.prefix = parts.netloc, f"{parts.path.strip('/')}/".lstrip("/")
        query = dict(parse_qsl(parts.query))
        endpoint = query.get("endpoint")
        style = "auto" if endpoint is None else "path"
        options = Config(
            signature_version="s3v4",
            s3={"addressing_style": style},
            connect_timeout=S3_TIMEOUT,
            read_timeout=S3_TIMEOUT,
            retries={"mode": "standard", "total_max_attempts": 3},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        self.client = boto3.client("s3", endpoint_url=endpoint, region_name=query.get("region"), config=options)

    def locate(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.prefix + require_name(name)}

    def put(self, name: str, file: IO[bytes]) -> None:
        caching = {"CacheControl": CACHED_FOR_GOOD} if name.startswith(PUBLIC) else {}
        with translate_errors():
            self.client.put_object(**self.locate(name), Body=file, ContentType=get_content_type(name), **caching)

    def open(self, name: str) -> IO[bytes]:
        """Return a copy on this host, which can be read again, and stored under another name."""
        with ExitStack() as opened, translate_errors():
            copy: IO[bytes] = opened.enter_context(closing(TemporaryFile()))  # noqa: SIM115 - the caller closes it
            with closing(self.client.get_object(**self.locate(name))["Body"]) as body:
                shutil.copyfileobj(body, copy, BLOCK)
            copy.seek(0)
            opened.pop_all()
        return copy

    def head(self, name: str) -> int | None:
        try:
            with translate_errors():
                return int(self.client.head_object(**self.locate(name))["ContentLength"])
        except FileNotFoundError:
            return None

    def delete(self, name: str) -> None:
        with translate_errors():
            self.client.delete_object(**self.locate(name))

    def presign(self, name: str, expected: Expected) -> Presigned:
        """Return a request whose type and length are signed. Its SHA-256 is compared when the upload is completed."""
        signed = {**self.locate(name), "ContentType": expected.content_type, "ContentLength": expected.size}
        url: str = self.client.generate_presigned_url("put_object", Params=signed, ExpiresIn=UPLOAD_LIFETIME)
        return Presigned(url, expected.list_headers())

    def list_files(self, prefix: str = "") -> Iterator[StoredFile]:
        pages = self.client.get_paginator("list_objects_v2")
        with translate_errors():
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix + prefix):
                for each in page.get("Contents", ()):
                    yield StoredFile(each["Key"][len(self.prefix) :], each["Size"], each["LastModified"])


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise `OSError` in place of the errors of boto3: `FileNotFoundError` for a file that does not exist."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code"))
        raise (FileNotFoundError if code in MISSING else OSError)(f"S3 responds with {code}.") from error
    except BotoCoreError as error:
        raise OSError(str(error)) from error
