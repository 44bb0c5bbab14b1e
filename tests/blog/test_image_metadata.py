"""Animations have the times that browsers show, and what no picture needs makes none invalid."""

import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageCms

from tests.blog.made_images import is_near, make, open_file
from tests.image_files import draw, encode


def animate(kind: str, durations: list[int], **options: Any) -> bytes:
    first, *others = [Image.new("RGB", (400, 200), (53 * place, 101, 37 * place)) for place in range(len(durations))]
    return encode(first, kind, save_all=True, append_images=others, duration=durations, **options)


def read_timing(folder: Path, name: str) -> tuple[list[int], int | None]:
    """Return how long each frame of a file is shown, and the number that the file has for how often."""
    with open_file(folder, name) as image:
        durations = []
        for place in range(getattr(image, "n_frames", 1)):
            image.seek(place)
            image.load()
            durations.append(int(image.info.get("duration", 0)))
        return durations, image.info.get("loop")


def test_animation_has_the_times_that_browsers_show(tmp_path: Path) -> None:
    for content, expected in [
        (
            partial(animate, "GIF", [10, 20, 50, 1000]),
            {"400.gif": ([100, 20, 50, 1000], None), "320.webp": 1, "320.avif": None},
        ),
        (partial(animate, "GIF", [0, 40], loop=0), {"400.gif": ([100, 40], 0), "400.webp": 0}),
        (partial(animate, "GIF", [30, 40], loop=3), {"400.gif": ([30, 40], 3), "400.webp": 4}),
        (partial(animate, "WEBP", [5, 11, 33, 700], loop=2), {"400.webp": ([100, 11, 33, 700], 2), "320.webp": 2}),
        (partial(animate, "AVIF", [8, 33, 700]), {"400.avif": ([100, 33, 700], None), "320.webp": 0, "320.avif": None}),
        (partial(animate, "PNG", [4, 33], loop=2), {"400.png": ([100, 33], 2), "320.webp": 2}),
        (partial(animate, "PNG", [70, 20, 50], loop=2, default_image=True), {"400.png": ([70, 20], 2), "320.webp": 2}),
    ]:
        make(content(), tmp_path, with_avif=True)

        (original, timing), *others = expected.items()
        assert read_timing(tmp_path, original) == timing
        for name, loop in others:
            assert read_timing(tmp_path, name) == (timing[0], loop)


SMALL = draw(80, 40)


def insert_chunk(png: bytes, kind: bytes, data: bytes, checksum: int | None = None) -> bytes:
    """Return a PNG with a further chunk before its pixels."""
    checksum = zlib.crc32(kind + data) if checksum is None else checksum
    return png[:33] + len(data).to_bytes(4) + kind + data + checksum.to_bytes(4) + png[33:]


def insert_segment(marker: int, data: bytes) -> bytes:
    jpeg = encode(SMALL)
    return jpeg[:2] + bytes([0xFF, marker]) + (len(data) + 2).to_bytes(2) + data + jpeg[2:]


def cut(missing: int) -> bytes:
    return encode(SMALL)[:-missing]


@cache
def make_bomb() -> bytes:
    return zlib.compress(bytes(80_000_000), level=1)


PNG = encode(SMALL, "PNG")


PARTS: list[Callable[[], bytes]] = [
    lambda: insert_chunk(PNG, b"zTXt", b"workflow\0\0" + make_bomb()),
    lambda: insert_chunk(PNG, b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + make_bomb()),
    lambda: insert_chunk(PNG, b"iCCP", b"profile\0\0" + make_bomb()),
    lambda: insert_chunk(PNG, b"iCCP", b"profile\0\0no zlib"),
    lambda: insert_chunk(PNG, b"iCCP", b"profile"),
    lambda: insert_chunk(PNG, b"tEXt", b"a\0" + b"x" * 20_000_000),
    lambda: insert_chunk(PNG, b"zTXt", b"a\0\7method"),
    lambda: insert_chunk(PNG, b"tEXt", b"a\0b", checksum=0),
    lambda: insert_chunk(PNG, b"eXIf", b"MM", checksum=0),
    lambda: insert_chunk(PNG, b"pHYs", b"\0"),
    lambda: PNG[:-12],
    lambda: insert_segment(0xEE, b"Adobe"),
    lambda: insert_segment(0xE0, b"JFIF"),
    lambda: insert_segment(0xE2, b"ICC_PROFILE\0"),
    lambda: insert_segment(0xE1, b"Exif\0\0MM\0*\xff\xff\xff\xff"),
    lambda: insert_segment(0xED, b"Photoshop 3.0\x008BIM\4"),
    *(partial(cut, missing) for missing in (1, 2, 3, 20)),
    lambda: encode(SMALL, "GIF")[:-1],
    lambda: encode(SMALL, "GIF", comment=b"x" * 2_000_000),
    lambda: encode(SMALL, "WEBP", xmp=b"<" * 2_000_000, icc_profile=b"x" * 2_000_000, exif=b"Exif\0\0MM"),
]


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_parts_that_no_picture_needs_make_none_invalid(tmp_path: Path) -> None:
    expected = SMALL.getpixel((40, 20))
    for content in PARTS:
        result = make(content(), tmp_path)

        assert (result.width, result.height) == SMALL.size
        for name in result.files:
            with open_file(tmp_path, name) as image:
                assert is_near(image.convert("RGB").getpixel((40, 20)), expected)


def test_large_profile_of_a_png_is_applied(tmp_path: Path) -> None:
    """A profile whose red is green, with more than 1 MB behind it."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    swapped = profile.replace(b"rXYZ", b"?XYZ").replace(b"gXYZ", b"rXYZ").replace(b"?XYZ", b"gXYZ")
    data = b"swapped\0\0" + zlib.compress(swapped + bytes(2_000_000))
    make(insert_chunk(encode(Image.new("RGB", (20, 10), "red"), "PNG"), b"iCCP", data), tmp_path)

    with open_file(tmp_path, "20.png") as image:
        red, green, _ = image.getpixel((5, 5))
        assert green > red
