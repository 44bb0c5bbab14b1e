"""The parts of a PNG or JPEG that a picture needs: the others, which nobody keeps, make no picture invalid.

As in browsers, text of any size, damaged metadata, and a missing end have no effect.
"""

import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, PngImagePlugin

PNG_START, JPEG_START = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
MAX_PROFILE = PngImagePlugin.MAX_TEXT_CHUNK = 16 * 2**20  # bytes of the profile of a PNG
ANIMATION = {b"acTL", b"fcTL", b"fdAT"}
USED_IF_SOUND = {b"tRNS", b"iCCP", b"eXIf"}
# The segments of a JPEG that matter, by their marker and first bytes, and the size without which they are damaged
SEGMENTS = {(0xE0, b"JFIF\0"): 14, (0xE1, b"Exif\0\0"): 8, (0xE2, b"ICC_PROFILE\0"): 14, (0xEE, b"Adobe"): 12}
APPLICATIONS, COMMENT, SCAN = range(0xE0, 0xF0), 0xFE, 0xDA
END = b"\xff\xd9"
LAST_ROWS = 8  # pixels of a picture in half of its size: a row of blocks


def open_without_metadata(source: Path) -> Path | io.BytesIO:
    """Return a file without the parts that no picture needs, if its format is PNG or JPEG."""
    content = source.read_bytes()
    if content.startswith(PNG_START):
        return io.BytesIO(b"".join(select_chunks(memoryview(content))))
    if content.startswith(JPEG_START):
        return io.BytesIO(b"".join(select_segments(memoryview(content))))
    return source


def select_chunks(content: memoryview) -> Iterator[memoryview]:
    """Yield the chunks of a PNG that the picture needs: critical ones, and those of animations in any case."""
    place, end = 0, len(PNG_START)
    yield content[place:end]
    while (place := end) + 12 <= len(content):
        length = int.from_bytes(content[place : place + 4])
        end = place + 12 + length
        chunk = content[place:end]
        kind = bytes(chunk[4:8])
        is_needed = not kind[0] & 32 or kind in ANIMATION
        is_used = kind in USED_IF_SOUND and is_sound(kind, chunk)
        if is_needed or is_used:
            yield chunk
    yield content[place:]


def is_sound(kind: bytes, chunk: memoryview) -> bool:
    """Whether a chunk has its checksum and, if it is a profile, can be decompressed."""
    if zlib.crc32(chunk[4:-4]) != int.from_bytes(chunk[-4:]):
        return False
    if kind != b"iCCP":
        return True
    _, _, compressed = bytes(chunk[8:-4]).partition(b"\0")
    try:
        decompressor = zlib.decompressobj()
        decompressor.decompress(compressed[1:], MAX_PROFILE)
    except zlib.error:
        return False
    return compressed[:1] == b"\0" and not decompressor.unconsumed_tail


def select_segments(content: memoryview) -> Iterator[memoryview]:
    """Yield the segments of a JPEG that the picture needs, and all that follows the start of its first scan."""
    place, end = 0, 2
    yield content[place:end]
    while (place := end) + 4 <= len(content) and content[place] == END[0] and content[place + 1] != SCAN:
        length = int.from_bytes(content[place + 2 : place + 4])
        if length < 2:
            break
        end = place + 2 + length
        if is_needed(content[place + 1], bytes(content[place + 4 : end])):
            yield content[place:end]
    yield content[place:]


def is_needed(marker: int, data: bytes) -> bool:
    """Whether a segment of a JPEG is needed, and is not damaged."""
    if marker not in APPLICATIONS and marker != COMMENT:
        return True
    return any(
        marker == known and data.startswith(start) and len(data) >= size for (known, start), size in SEGMENTS.items()
    )


def add_end(content: bytes) -> bytes | None:
    """Return a JPEG with an end for one that lacks its last bytes; None if more than the last rows lack, or for a PNG.

    What a decoder makes of the missing bytes differs with what is in their place.
    """
    if not content.startswith(JPEG_START):
        return None
    pictures, content = set(), content.rstrip(END[:1])
    for filler in (b"\0", b"\x55"):
        completed = content + 64 * filler + END
        with Image.open(io.BytesIO(completed), formats=["JPEG"]) as image:
            image.draft(image.mode, (image.width // 2, image.height // 2))  # in less memory
            upper = image.crop((0, 0, image.width, max(1, image.height - LAST_ROWS)))
            pictures.add(hashlib.sha256(upper.tobytes()).digest())
    return completed if len(pictures) == 1 else None
