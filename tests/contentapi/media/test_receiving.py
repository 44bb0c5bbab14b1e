"""Signed addresses: they store exactly the announced file, until they expire."""

import hashlib
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from contentapi.media.folder import FolderStorage
from contentapi.media.receiving import is_signed
from contentapi.media.storage import Expected, Presigned

CONTENT = b"\x89PNG\r\n\x1a\n and more"
EXPECTED = Expected("image/png", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())

pytestmark = pytest.mark.django_db


@pytest.fixture
def presigned(media: FolderStorage) -> Presigned:
    return media.presign("uploads/7", EXPECTED)


def put(url: str, content: bytes = CONTENT, content_type: str = "image/png", method: str = "PUT") -> Any:
    parts = urlsplit(url)
    client = Client(raise_request_exception=False)
    return client.generic(method, f"{parts.path}?{parts.query}", content, content_type=content_type)


def test_announced_file_is_stored(media: FolderStorage, presigned: Presigned) -> None:
    response = put(presigned.url)

    assert (response.status_code, response.content) == (200, b"")
    assert presigned.headers == {"Content-Type": "image/png", "Content-Length": str(len(CONTENT))}
    with media.open("uploads/7") as file:
        assert file.read() == CONTENT


@pytest.mark.parametrize(
    "change", [("uploads/7", "uploads/8"), ("signature=", "signature=0"), ("signature=", "other=")]
)
def test_changed_address_is_refused(media: FolderStorage, presigned: Presigned, change: tuple[str, str]) -> None:
    response = put(presigned.url.replace(*change))

    assert (response.status_code, response.json()) == (403, {"error": "The signature of the address is invalid."})
    assert list(media.list_files()) == []


def test_expired_address_is_refused(presigned: Presigned, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time() + 901
    monkeypatch.setattr(time, "time", lambda: later)

    response = put(presigned.url)

    assert response.status_code == 403
    assert "has expired" in response.json()["error"]


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (CONTENT[:-1], "image/png", 422),
        (CONTENT[:-1] + b"x", "image/png", 422),
        (CONTENT + b"x", "image/png", 413),
        (CONTENT, "image/jpeg", 415),
        (CONTENT, "text/html", 415),
    ],
)
def test_another_file_is_refused(
    media: FolderStorage, presigned: Presigned, content: bytes, content_type: str, status: int
) -> None:
    assert put(presigned.url, content, content_type).status_code == status
    assert list(media.list_files()) == []


def test_other_methods_are_not_allowed(presigned: Presigned) -> None:
    assert put(presigned.url, b"", method="GET").status_code == 405
    assert put(presigned.url, b"", method="OPTIONS").headers["Allow"] == "PUT, OPTIONS"


def test_server_reads_a_large_body_for_a_valid_signature_only(presigned: Presigned) -> None:
    parts = urlsplit(presigned.url)

    assert is_signed({"PATH_INFO": parts.path, "QUERY_STRING": parts.query})
    assert not is_signed({"PATH_INFO": "/uploads/8", "QUERY_STRING": parts.query})
    assert not is_signed({"PATH_INFO": parts.path})
