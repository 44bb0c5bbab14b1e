"""Static files are compressed, and those with a hash in their path are cached forever."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.test import Client, RequestFactory

from contentapi import frontend
from contentapi.http import static_files

STYLES = "/static/unfold/css/styles.css"
FONT = "/static/unfold/fonts/inter/Inter-Regular.woff2"


def read(response: Any) -> bytes:
    content: bytes = response.getvalue() if response.streaming else response.content
    return content


def find_file(path: str) -> bytes:
    found = finders.find(path.removeprefix("/static/"))
    assert found
    return Path(found).read_bytes()


def test_text_file_of_a_package_is_compressed() -> None:
    first, again = (Client().get(STYLES, headers={"Accept-Encoding": "gzip, deflate, br"}) for _ in range(2))

    assert first["Content-Encoding"] == "gzip"
    assert gzip.decompress(first.content) == find_file(STYLES)
    assert int(first["Content-Length"]) == len(first.content) < len(find_file(STYLES)) / 4
    assert (first["Content-Type"], first["Vary"]) == ('text/css; charset="utf-8"', "Accept-Encoding")
    assert again.content == first.content


def test_compressed_file_is_not_sent_again_while_it_is_unchanged() -> None:
    gzipped = {"Accept-Encoding": "gzip"}
    first = Client().get(STYLES, headers=gzipped)

    again = Client().get(STYLES, headers={**gzipped, "If-Modified-Since": first["Last-Modified"]})

    assert "ETag" not in first
    assert (again.status_code, read(again)) == (304, b"")


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "identity, gzip; q=0.0, br"])
def test_client_that_does_not_accept_gzip_gets_the_file_as_it_is(accepted: str) -> None:
    response = Client().get(STYLES, headers={"Accept-Encoding": accepted})

    assert "Content-Encoding" not in response
    assert read(response) == find_file(STYLES)
    assert response["Vary"] == "Accept-Encoding"


def test_head_and_parts_of_a_file_are_not_compressed() -> None:
    head = Client().head(STYLES, headers={"Accept-Encoding": "gzip"})
    part = Client().get(STYLES, headers={"Accept-Encoding": "gzip", "Range": "bytes=0-9"})

    assert (head.status_code, "Content-Encoding" in head) == (200, False)
    assert (part.status_code, read(part)) == (206, find_file(STYLES)[:10])


def test_font_is_not_compressed_again() -> None:
    response = Client().get(FONT, headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in response
    assert read(response) == find_file(FONT)


def test_favicon_is_at_the_path_where_browsers_look_for_it() -> None:
    response = Client().get("/favicon.ico")

    assert (response.status_code, response["Content-Type"]) == (200, "image/x-icon")
    assert read(response).startswith(b"\0\0\1\0")
    assert "RateLimit" not in response


def test_files_that_are_built_after_the_start_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (frontend, static_files):
        monkeypatch.setattr(module, "BUILT", tmp_path / "frontend")
    path = f"{frontend.NAME}/new.js"
    request = RequestFactory().get(f"/static/frontend/{path}")
    middleware = static_files.StaticFilesMiddleware(lambda _: HttpResponse(status=404))
    before = middleware(request)

    (tmp_path / "frontend" / path).parent.mkdir(parents=True)
    (tmp_path / "frontend" / path).write_bytes(b"new")
    response = middleware(request)

    assert (before.status_code, response.status_code, read(response)) == (404, 200, b"new")
    assert "immutable" in response["Cache-Control"]
    response.close()
