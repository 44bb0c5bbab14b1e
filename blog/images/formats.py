"""The formats of images and the files that are made of each. The child process uses this: it imports no Django."""

import re
from typing import NamedTuple

WIDTHS = (320, 640, 960, 1280, 1920, 2560)
MAX_PIXELS = 50_000_000  # of all frames together
MAX_SIDE = 16_384
MAX_ENCODED = 12_500_000  # pixels that AVIF, and WebP with transparency, can encode within the limit of memory
MAX_FRAMES = 100
MAX_MEMORY = 512 * 2**20  # bytes of the child process


class Format(NamedTuple):
    """A format: its name in Pillow, the type of its files, the end of their names, and how they start."""

    name: str
    content_type: str
    extension: str
    start: bytes


JPEG = Format("JPEG", "image/jpeg", "jpg", rb"\xff\xd8\xff")
PNG = Format("PNG", "image/png", "png", rb"\x89PNG\r\n\x1a\n")
WEBP = Format("WEBP", "image/webp", "webp", rb"RIFF.{4}WEBP")
AVIF = Format("AVIF", "image/avif", "avif", rb".{4}ftyp(?:avi[fs]|m(?:if1|sf1).{4}.*avi)")
GIF = Format("GIF", "image/gif", "gif", rb"GIF8[79]a")
FORMATS = (JPEG, PNG, WEBP, AVIF, GIF)
CONTENT_TYPES = [each.content_type for each in FORMATS]
SIGNATURE = 32  # bytes at the start of a file, which tell its format


def detect_format(start: bytes) -> Format | None:
    """Return the format of a file by its first bytes, whatever its name says; None if it is none of ours."""
    return next((each for each in FORMATS if re.match(each.start, start, re.DOTALL)), None)


def list_widths(width: int, height: int) -> list[int]:
    """Return the widths of the variants of an image: none is wider than it, or so tall that it cannot be encoded."""
    widest = min(width, WIDTHS[-1])
    widths = [*(each for each in WIDTHS if each < widest), widest]
    return [each for each in widths if each * each * height <= width * MAX_ENCODED]


def list_extensions(*, has_alpha: bool, with_avif: bool) -> list[str]:
    """Return the ends of the names of the variants: JPEG has no transparency, so PNG takes its place."""
    return [WEBP.extension, (PNG if has_alpha else JPEG).extension, *([AVIF.extension] if with_avif else [])]
