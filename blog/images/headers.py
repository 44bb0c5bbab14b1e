"""The size of an image as the first bytes of its file state it, read without a decoder."""

import re
from collections.abc import Iterator
from typing import IO

from blog.images.formats import JPEG, MAX_PIXELS, MAX_SIDE, PNG, Format

HEAD = 64 * 1024  # bytes in which every format but JPEG states its size
SEGMENTS = 1000  # of a JPEG, before its size
SIZES_OF_JPEG = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the markers of frames
STANDALONE = {0x01, 0xFF, *range(0xD0, 0xD8)}  # bytes after which no length follows
AVIF_SIZE = re.compile(rb"ispe\0\0\0\0(....)(....)", re.DOTALL)


def find_excess(file: IO[bytes], kind: Format) -> str:
    """Return why the size that a file states is too large; an empty text if it is not, or the file states none."""
    for width, height in list_sizes(file, kind):
        if max(width, height) > MAX_SIDE:
            return f"At most {MAX_SIDE:,} pixels a side are allowed (got {width:,} x {height:,})."
        if width * height > MAX_PIXELS:
            return f"At most {MAX_PIXELS // 10**6} megapixels are allowed (got {width * height / 1e6:,.1f})."
    return ""


def list_sizes(file: IO[bytes], kind: Format) -> Iterator[tuple[int, int]]:
    """Yield the sizes that a file states: one, or in an AVIF those of its parts."""
    if kind == JPEG:
        yield from find_size_of_jpeg(file)
        return
    file.seek(0)
    head = file.read(HEAD)
    if kind == PNG:
        yield int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    elif kind.name == "GIF":
        yield int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif kind.name == "AVIF":
        yield from ((int.from_bytes(width), int.from_bytes(height)) for width, height in AVIF_SIZE.findall(head))
    elif head[12:16] == b"VP8X":
        yield int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    elif head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        yield (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        yield int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF


def find_size_of_jpeg(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the size in the first frame of a JPEG, after the segments before it."""
    file.seek(2)
    for _ in range(SEGMENTS):
        marker = file.read(2)
        if len(marker) < 2 or marker[0] != 0xFF:
            return
        if marker[1] in STANDALONE:
            file.seek(-1 if marker[1] == 0xFF else 0, 1)
            continue
        segment = file.read(7)
        if marker[1] in SIZES_OF_JPEG:
            yield int.from_bytes(segment[5:7]), int.from_bytes(segment[3:5])
            return
        file.seek(int.from_bytes(segment[:2]) - len(segment), 1)
