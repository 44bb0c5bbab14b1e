"""The formats of images: the first bytes determine the format, and the format the files that are made."""

from blog.images.formats import detect_format, list_widths
from tests.image_files import draw, encode, make_gif, make_jpeg, make_png


def test_first_bytes_tell_the_format() -> None:
    for content, content_type in [
        (make_jpeg(), "image/jpeg"),
        (make_png(), "image/png"),
        (make_gif(1), "image/gif"),
        (encode(draw(8, 8), "WEBP"), "image/webp"),
        (encode(draw(8, 8), "AVIF"), "image/avif"),
    ]:
        found = detect_format(content[:32])

        assert found is not None
        assert found.content_type == content_type


def test_other_files_have_no_format() -> None:
    for content in [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!DOCTYPE html>",
        b"%PDF-1.7",
        b"\xff\xd8",
        b"GIF88a",
        b"RIFF\0\0\0\0AVI ",
        b"\0\0\0 ftypheic\0\0\0\0heicmif1",
        b"\0\0\0 ftypmif1\0\0\0\0mif1heic",
        b"BM" + b"\0" * 30,
        b"II*\0" + b"\0" * 28,
    ]:
        assert detect_format(content) is None


def test_no_variant_is_wider_than_the_image_or_too_large_to_encode() -> None:
    for size, widths in [
        ((1, 100), [1]),
        ((320, 100), [320]),
        ((321, 100), [320, 321]),
        ((2000, 100), [320, 640, 960, 1280, 1920, 2000]),
        ((2560, 4882), [320, 640, 960, 1280, 1920, 2560]),
        ((9000, 100), [320, 640, 960, 1280, 1920, 2560]),
        ((2560, 16_384), [320, 640, 960, 1280]),
        ((320, 16_384), [320]),
    ]:
        assert list_widths(*size) == widths
