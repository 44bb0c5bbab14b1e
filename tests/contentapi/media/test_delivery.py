"""The delivery of public files: headers, ranges, conditions, and what is not public."""

import io
from typing import Any

import pytest

from contentapi.media.delivery import deliver_file
from contentapi.media.folder import FolderStorage
from tests.wsgi import WsgiResponse, call_application

FOLDER = f"media/7-{'0a' * 16}"
NAME = f"{FOLDER}/640.webp"
CONTENT = bytes(range(256)) * 300


@pytest.fixture(autouse=True)
def stored(media: FolderStorage) -> None:
    media.put(NAME, io.BytesIO(CONTENT))
    media.put("uploads/7", io.BytesIO(b"private"))


def get(path: str = f"/{NAME}", method: str = "GET", **headers: Any) -> WsgiResponse:
    return call_application(deliver_file, method, path, **{f"HTTP_{name}": value for name, value in headers.items()})


def test_whole_file_may_be_cached_for_good_and_runs_no_script() -> None:
    response = get()

    assert (response.status, response.content) == (200, CONTENT)
    del response.headers["X-Request-ID"]
    assert response.headers == {
        "Content-Type": "image/webp",
        "Content-Length": str(len(CONTENT)),
        "ETag": f'"{NAME.removeprefix("media/")}"',
        "Cache-Control": "public, max-age=31536000, immutable",
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-0", 0, 1), ("bytes=70000-", 70000, 76800), ("bytes=10-99999999", 10, 76800), ("bytes=-5", 76795, 76800)],
)
def test_range_of_a_file(asked: str, start: int, end: int) -> None:
    response = get(RANGE=asked)

    assert (response.status, response.content) == (206, CONTENT[start:end])
    assert response.headers["Content-Range"] == f"bytes {start}-{end - 1}/76800"
    assert response.headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize("asked", ["bytes=0-1,3-4", "bytes=9-3", "bytes=-", "items=0-1", "bytes=x-", ""])
def test_other_ranges_get_the_whole_file(asked: str) -> None:
    assert get(RANGE=asked).status == 200


@pytest.mark.parametrize("asked", ["bytes=76800-", "bytes=-0"])
def test_range_after_the_end_cannot_be_satisfied(asked: str) -> None:
    response = get(RANGE=asked)

    assert (response.status, response.headers["Content-Range"], response.content) == (416, "bytes */76800", b"")
    assert response.headers["Cache-Control"] == "no-store"


def test_range_of_another_file_gets_the_whole_file() -> None:
    tag = get().headers["ETag"]

    assert get(RANGE="bytes=0-1", IF_RANGE=tag).status == 206
    assert get(RANGE="bytes=0-1", IF_RANGE='"other"').status == 200


def test_client_that_has_the_file_gets_304() -> None:
    response = get(IF_NONE_MATCH=get().headers["ETag"])

    assert (response.status, response.content) == (304, b"")
    assert "Content-Length" not in response.headers


def test_head_has_the_length_and_no_body() -> None:
    response = get(method="HEAD", RANGE="bytes=0-9")  # of which only GET has one

    assert (response.status, response.content) == (200, b"")
    assert response.headers["Content-Length"] == str(len(CONTENT))


@pytest.mark.parametrize(
    "path",
    [
        f"/{FOLDER}/641.webp",
        f"/{FOLDER}/640.svg",
        f"/media/7-{'0b' * 16}/640.webp",
        "/media/../uploads/7",
        "/media/",
        f"/{FOLDER}/../../uploads/7",
    ],
)
def test_everything_else_is_not_found(path: str) -> None:
    response = get(path)

    assert response.status == 404
    assert response.content == b'{"error":"There is nothing at this address."}'
    assert response.headers["Cache-Control"] == "no-store"


def test_other_methods_are_not_allowed() -> None:
    assert get(method="PUT").headers["Allow"] == "GET, HEAD, OPTIONS"
    assert (get(method="PUT").status, get(method="OPTIONS").status) == (405, 204)
