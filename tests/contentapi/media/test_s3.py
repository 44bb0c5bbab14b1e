"""Files in a bucket, of a server that refuses what S3 refuses."""

import hashlib
import io
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from django.core.management import call_command
from pytest_django import Settings

from blog import services
from contentapi.core.errors import Conflict
from contentapi.core.identity import Role
from contentapi.health.checks import NOT_STORED, check_media
from contentapi.health.results import OK
from contentapi.media import s3
from contentapi.media.access import build_bucket
from contentapi.media.folder import FolderStorage
from contentapi.media.s3 import S3Storage
from contentapi.media.storage import Expected, Presigned
from tests.deployment.ports import find_free_port
from tests.deployment.s3_server import VARIABLES, S3Server
from tests.e2e.chromium import CHROMIUM, launch_chromium
from tests.e2e.example_site import serve
from tests.environment import set_environment
from tests.factories import make_actor
from tests.image_files import make_png

pytestmark = pytest.mark.servers
NAME = f"media/7-{'0' * 32}/640.webp"
CONTENT = make_png(8, 8)
EXPECTED = Expected("image/png", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())

SEND = """async ([url, headers, bytes]) => {
    const response = await fetch(url, { method: "PUT", headers, body: new Uint8Array(bytes) });
    return response.status;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    yield server
    server.stop()


@pytest.fixture
def bucket(server: S3Server, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Storage]:
    """The storage of this deployment."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    build_bucket.cache_clear()
    set_environment(settings, CONTENTAPI_MEDIA=server.place, CONTENTAPI_MEDIA_URL="https://cdn.example.com")
    storage = build_bucket(server.place)
    yield storage
    for file in list(storage.list_files()):
        storage.delete(file.name)
    build_bucket.cache_clear()


def put(request: Presigned, *, content: bytes = CONTENT, url: str = "", **headers: str) -> int:
    """Send a presigned request. Return its status."""
    parts = urlsplit(url or request.url)
    connection = HTTPConnection(parts.netloc, timeout=60)
    sent = {**request.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(request.method, f"{parts.path}?{parts.query}", content, sent)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


def list_names(bucket: S3Storage) -> list[str]:
    return sorted(file.name for file in bucket.list_files())


def test_operations(bucket: S3Storage) -> None:
    for name in (NAME, "uploads/7"):
        bucket.put(name, io.BytesIO(CONTENT))

    assert (bucket.head(NAME), bucket.head("uploads/8")) == (len(CONTENT), None)
    with bucket.open(NAME) as file:
        assert (file.read(4), file.seek(0), file.read()) == (b"\x89PNG", 0, CONTENT)
    assert [(file.name, file.size) for file in bucket.list_files("media/")] == [(NAME, len(CONTENT))]
    assert list_names(bucket) == [NAME, "uploads/7"]
    bucket.delete(NAME)
    bucket.delete(NAME)
    assert list_names(bucket) == ["uploads/7"]
    with pytest.raises(FileNotFoundError):
        bucket.open(NAME)
    assert check_media() == OK


def test_error_is_an_os_error(server: S3Server, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    for name, value in {**VARIABLES, "AWS_SECRET_ACCESS_KEY": "another one"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    build_bucket.cache_clear()
    set_environment(settings, CONTENTAPI_MEDIA=server.place, CONTENTAPI_MEDIA_URL="https://cdn.example.com")

    with pytest.raises(OSError, match="S3 responds with"):
        build_bucket(server.place).put("uploads/7", io.BytesIO(b"x"))
    assert check_media() == NOT_STORED
    build_bucket.cache_clear()


def test_presigned_request_stores_the_announced_file_only(bucket: S3Storage) -> None:
    request = bucket.presign("uploads/7", EXPECTED)

    assert put(request, url=request.url.replace("uploads/7", "uploads/8")) == 403
    assert put(request, url=request.url.replace("X-Amz-Expires=900", "X-Amz-Expires=9000")) == 403
    assert put(request, Content_Type="image/gif") == 403
    assert put(request, content=CONTENT + b"x", Content_Length=str(len(CONTENT) + 1)) == 403
    assert list_names(bucket) == []
    assert put(request) == 200
    with bucket.open("uploads/7") as file:
        assert file.read() == CONTENT


def test_boto3_puts_a_file_to_the_signed_address(bucket: S3Storage) -> None:
    request = bucket.presign("uploads/7", EXPECTED)
    options = Config(signature_version=UNSIGNED, request_checksum_calculation="when_required")
    client = boto3.client("s3", endpoint_url=bucket.client.meta.endpoint_url, region_name="any", config=options)

    def use_address(request: Any, url: str = request.url, **_: Any) -> None:
        request.url = url

    client.meta.events.register("before-send.s3.PutObject", use_address)

    client.put_object(Bucket="any", Key="any", Body=CONTENT, ContentType="image/png")

    with bucket.open("uploads/7") as file:
        assert file.read() == CONTENT


@pytest.mark.thorough
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_script_of_another_origin_puts_a_file_to_the_signed_address(bucket: S3Storage, tmp_path: Path) -> None:
    port = find_free_port()
    request = bucket.presign("uploads/7", EXPECTED)
    wrong = {**request.headers, "Content-Type": "image/gif"}
    with serve(tmp_path, port), launch_chromium() as browser:
        page = browser.new_context().new_page()
        page.goto(f"http://localhost:{port}/")

        refused = page.evaluate(SEND, [request.url, wrong, [*CONTENT]])
        accepted = page.evaluate(SEND, [request.url, request.headers, [*CONTENT]])

    assert (refused, accepted) == (403, 200)
    with bucket.open("uploads/7") as file:
        assert file.read() == CONTENT


def test_expired_request_is_refused(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "UPLOAD_LIFETIME", 1)
    request = bucket.presign("uploads/7", EXPECTED)
    time.sleep(2.1)

    assert put(request) in (400, 403)  # of rclone, and of S3
    assert list_names(bucket) == []


@pytest.mark.django_db
def test_upload_in_two_steps(bucket: S3Storage) -> None:
    author = make_actor(Role.AUTHOR)
    announced, request = services.create_upload(
        actor=author, name="a.png", content_type="image/png", size=EXPECTED.size, sha_256=EXPECTED.sha256
    )
    upload = str(announced.pk)

    with pytest.raises(Conflict, match="have not arrived"):
        services.complete_upload(actor=author, upload_id=upload)
    other = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    assert put(request, content=other) == 200
    with pytest.raises(Conflict, match="other ones than those that were announced"):
        services.complete_upload(actor=author, upload_id=upload)
    assert put(request) == 200
    image = services.complete_upload(actor=author, upload_id=upload)

    assert list_names(bucket) == [image.source]


@pytest.mark.django_db
def test_folder_is_moved_to_the_bucket(
    bucket: S3Storage, media: FolderStorage, server: S3Server, settings: Settings
) -> None:
    media.put(NAME, io.BytesIO(CONTENT))
    set_environment(settings, CONTENTAPI_MEDIA=server.place, CONTENTAPI_MEDIA_URL="https://cdn.example.com")

    call_command("move_media", str(media.folder))
    call_command("move_media", str(media.folder))

    assert list_names(bucket) == [NAME]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("s3://b/a/c/?endpoint=https://s3.example.com&region=x", ("b", "a/c/", "https://s3.example.com", "x")),
        ("s3://b?region=eu-central-1", ("b", "", "https://s3.eu-central-1.amazonaws.com", "eu-central-1")),
    ],
)
def test_place_names_bucket_prefix_endpoint_and_region(place: str, expected: tuple[str, str, str, str]) -> None:
    storage = S3Storage(place)

    meta = storage.client.meta
    assert (storage.bucket, storage.prefix, meta.endpoint_url, meta.region_name) == expected
