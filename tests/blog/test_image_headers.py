"""What the header of a file states about its size decides at the upload."""

import io
import struct
from zlib import crc32

import pytest
from PIL import Image

from blog import services
from blog.images.formats import detect_format
from blog.images.headers import find_excess, list_sizes
from contentapi.core.errors import Invalid
from contentapi.core.identity import OPERATOR
from contentapi.media.folder import FolderStorage
from tests.blog.stored_images import list_stored
from tests.image_files import draw, encode, send_file


def list_sizes_of(content: bytes) -> list[tuple[int, int]]:
    kind = detect_format(content)
    assert kind is not None
    return list(list_sizes(io.BytesIO(content), kind))


def build_png(width: int, height: int) -> bytes:
    """Return the beginning of a PNG of any size, which has no pixels."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", crc32(chunk))


def build_jpeg(width: int, height: int, *segments: bytes) -> bytes:
    frame = b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + bytes(10)
    return b"\xff\xd8" + b"".join(segments) + frame


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "AVIF"])
def test_size_is_that_of_the_decoder(kind: str) -> None:
    assert (400, 210) in list_sizes_of(encode(draw(400, 210), kind))


@pytest.mark.parametrize(
    ("mode", "options"), [("RGB", {}), ("RGB", {"lossless": True}), ("RGBA", {}), ("RGB", {"exif": Image.Exif()})]
)
def test_size_of_each_kind_of_webp_is_that_of_the_decoder(mode: str, options: dict[str, object]) -> None:
    assert list_sizes_of(encode(draw(400, 210, mode), "WEBP", **options)) == [(400, 210)]


@pytest.mark.parametrize(
    "segments",
    [
        [b"\xff\xe1\xff\xff" + bytes(65533)] * 3,
        [b"\xff\xe1\x00\x06\xff\xc0ab"],  # the thumbnail in it has a frame too
        [b"\xff\xff\xff\xe0\x00\x04ab"],
        [b"\xff\xc4\x00\x04ab"],
    ],
    ids=["large", "thumbnail", "fill bytes", "tables"],
)
def test_size_of_a_jpeg_follows_its_segments(segments: list[bytes]) -> None:
    assert list_sizes_of(build_jpeg(640, 480, *segments)) == [(640, 480)]


@pytest.mark.parametrize("content", [b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\x00\x00" * 3000, b"\xff\xd8\xff\xe0\xff\xff"])
def test_damaged_jpeg_has_no_size(content: bytes) -> None:
    assert list_sizes_of(content) == []


@pytest.mark.parametrize(
    ("content", "excess"),
    [
        (build_png(16_384, 3_000), ""),
        (build_png(16_385, 1), "At most 16,384 pixels a side are allowed (got 16,385 x 1)."),
        (build_jpeg(10_000, 5_001), "At most 50 megapixels are allowed (got 50.0)."),
        (b"GIF89a\xff\xff\xff\xff", "At most 16,384 pixels a side are allowed (got 65,535 x 65,535)."),
        (build_png(0, 0), ""),
        (b"RIFF\0\0\0\0WEBP", ""),
    ],
)
def test_limits_are_those_of_the_worker(content: bytes, excess: str) -> None:
    kind = detect_format(content)
    assert kind is not None
    assert find_excess(io.BytesIO(content), kind) == excess


@pytest.mark.django_db
def test_image_with_too_many_pixels_is_refused_at_the_upload(media: FolderStorage) -> None:
    with pytest.raises(Invalid, match="At most 50 megapixels"):
        services.create_image(actor=OPERATOR, read_file=send_file(build_png(8_000, 8_000)))

    assert list_stored() == []
    assert media
