"""Makes 208 hostile files: too large, damaged, with something behind their end, of other types, and with metadata.

They are the same in each run. Each has a name and whether it must be accepted; None where either is right.
"""

import random
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.image_files import GPS, ORIENTATION, SECRET, draw, encode, make_gif

SCRIPT = b"<script>alert('Where the treasure is')</script><?php system($_GET[0]); ?>"
KINDS = ("JPEG", "PNG", "WEBP", "AVIF", "GIF")
PNG_START = b"\x89PNG\r\n\x1a\n"


class HostileFile(NamedTuple):
    name: str
    content: bytes
    is_accepted: bool | None


@cache
def make_base(kind: str) -> bytes:
    return encode(draw(96, 64), kind)


def make_exif() -> Image.Exif:
    exif = Image.Exif()
    exif[0x010E] = SECRET
    exif[0x013B] = SCRIPT.decode()
    exif.get_ifd(GPS)[2] = (54.0, 5.0, 30.0)
    return exif


def build_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def build_png(width: int, height: int, data: bytes = b"", *chunks: bytes, depth: int = 8, color: int = 2) -> bytes:
    header = build_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    body = build_chunk(b"IDAT", zlib.compress(data, level=1))
    return PNG_START + header + b"".join(chunks) + body + build_chunk(b"IEND", b"")


Made = Iterator[tuple[str, bytes, bool | None]]


def make_oriented_files() -> Made:
    for orientation in range(1, 9):
        exif = make_exif()
        exif[ORIENTATION] = orientation
        for kind in ("JPEG", "PNG", "WEBP"):
            yield f"orientation {orientation} {kind}", encode(draw(96, 64), kind, exif=exif), True


def make_large_files() -> Made:
    for width, height in ((50_000, 50_000), (16_385, 1), (1, 16_385), (2**31 - 1, 2**31 - 1), (8000, 8000), (0, 5)):
        yield f"PNG of {width} x {height}", build_png(width, height, bytes(1000)), False
    for width, height in ((100, 16_384), (16_384, 100)):
        yield f"PNG of {width} x {height}", encode(Image.new("RGB", (width, height), 5), "PNG"), True
    frame = make_base("JPEG")
    start = frame.index(b"\xff\xc0") + 5
    yield "JPEG of 65,535 x 65,535", frame[:start] + b"\xff\xff\xff\xff" + frame[start + 4 :], False
    gif = make_base("GIF")
    yield "GIF of 65,535 x 65,535", gif[:6] + b"\xff\xff\xff\xff" + gif[10:], False
    yield "GIF of 10,000 frames", make_many_frames(10_000), False
    yield "GIF of 101 frames", make_many_frames(101), False
    frames = [Image.new("RGB", (8, 8), (37 * number % 256, 91 * number % 256, 53)) for number in range(101)]
    for kind in ("WEBP", "PNG"):
        content = encode(frames[0], kind, save_all=True, append_images=frames[1:], duration=40)
        yield f"animation of 101 frames, {kind}", content, False
    large = [Image.new("L", (2000, 2000), number) for number in range(0, 250, 10)]
    yield "GIF of 100 megapixels", encode(large[0], "GIF", save_all=True, append_images=large[1:]), False
    yield "PNG whose data is a bomb", build_png(100, 100, bytes(200_000_000)), None
    yield "PNG of 49 megapixels in one colour", build_png(7000, 7000, bytes(7001 * 7000), color=0), True
    yield "JPEG of 48 megapixels", encode(Image.new("L", (8000, 6000), 120), quality=10), True
    translucent = Image.new("RGBA", (8000, 6000), (9, 9, 9, 9))
    yield "PNG of 48 megapixels with transparency", encode(translucent, "PNG"), True
    yield "WebP of 48 megapixels with transparency", encode(translucent, "WEBP", lossless=True), True
    yield "AVIF of 15 megapixels", encode(Image.new("RGB", (5000, 3000), 120), "AVIF", speed=10), True


def make_many_frames(number: int) -> bytes:
    """Return a GIF of one pixel in many frames: the same frame again and again."""
    content = encode(Image.new("P", (1, 1)), "GIF")
    start = content.index(b"\x2c")
    return content[:start] + content[start:-1] * number + b"\x3b"


def make_truncated_files() -> Made:
    for kind in KINDS:
        content = make_base(kind)
        for part in (4, 13, 32, len(content) // 8, len(content) // 4, len(content) // 2, len(content) - 12):
            yield f"{kind} of {part} bytes", content[:part], None if part > len(content) // 2 else False


def make_corrupt_files() -> Made:
    generator = random.Random(7)  # noqa: S311 - the same files in each run
    for kind in KINDS:
        for number in range(12):
            content = bytearray(make_base(kind))
            for _ in range(1 + number):
                content[generator.randrange(12, len(content))] = generator.randrange(256)
            yield f"corrupt {kind} {number}", bytes(content), None


def make_polyglots() -> Made:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("evil.html", SCRIPT)
    for kind in KINDS:
        content = make_base(kind)
        for name, more in (("HTML", SCRIPT), ("zip", archive.getvalue()), ("PDF", b"%PDF-1.7\n" + SCRIPT)):
            yield f"{kind} and {name}", content + more, None if kind == "AVIF" else True


def make_unusual_files() -> Made:
    for mode in ("L", "1", "P", "LA", "RGBA", "I;16"):
        image = Image.new("I;16", (96, 64), 0xC000) if mode == "I;16" else draw(96, 64).convert(mode)
        yield f"PNG {mode}", encode(image, "PNG"), True
    for mode in ("L", "CMYK", "YCbCr"):
        yield f"JPEG {mode}", encode(draw(96, 64).convert(mode), progressive=mode == "L"), True
    yield "PNG of 16 bits in three channels", build_png(8, 8, (b"\0" + bytes(48)) * 8, depth=16), True
    yield "lossless WebP with transparency", encode(draw(96, 64).convert("RGBA"), "WEBP", lossless=True), True
    yield "GIF of 3 frames", make_gif(3, 96, 64), True
    pictures = [draw(96, 64), draw(48, 32)]
    yield "MPO", encode(pictures[0], "MPO", save_all=True, append_images=pictures[1:]), None


def make_files_with_metadata() -> Made:
    exif = make_exif().tobytes()
    xmp = f"<x:xmpmeta>{SECRET}{SCRIPT.decode()}</x:xmpmeta>".encode()
    damaged = b"Exif\0\0II*\0" + b"\xff" * 200
    text = PngInfo()
    text.add_text("Comment", SECRET)
    text.add_itxt("XML:com.adobe.xmp", xmp.decode())
    text.add_text("Warning", SECRET * 100, zip=True)
    for kind in ("JPEG", "PNG", "WEBP", "AVIF"):
        yield f"EXIF in {kind}", encode(draw(96, 64), kind, exif=exif), True
        if kind != "AVIF":  # whose encoder reads it
            yield f"damaged EXIF in {kind}", encode(draw(96, 64), kind, exif=damaged), None
        yield f"damaged profile in {kind}", encode(draw(96, 64), kind, icc_profile=b"x" * 500), True
    for kind in ("JPEG", "WEBP"):
        yield f"XMP in {kind}", encode(draw(96, 64), kind, xmp=xmp), True
    yield "comment in JPEG", encode(draw(96, 64), comment=SCRIPT + SECRET.encode()), True
    yield "comment in GIF", encode(draw(96, 64), "GIF", comment=SCRIPT + SECRET.encode()), True
    yield "texts in PNG", encode(draw(96, 64), "PNG", pnginfo=text), True
    for name, chunk in list_bombs():
        yield name, build_png(8, 8, (b"\0" + bytes(24)) * 8, chunk), None


def list_bombs() -> list[tuple[str, bytes]]:
    bomb = zlib.compress(bytes(80_000_000), level=1)
    return [
        ("text that is a bomb", build_chunk(b"zTXt", b"Comment\0\0" + bomb)),
        ("profile that is a bomb", build_chunk(b"iCCP", b"sRGB\0\0" + bomb)),
        ("international text that is a bomb", build_chunk(b"iTXt", b"Comment\0\1\0\0\0" + bomb)),
        ("chunk that says it has 2 GB", struct.pack(">I", 2**31 - 1) + b"tEXt" + bytes(50)),
    ]


def make_other_types() -> Made:
    others: dict[str, Any] = {
        "SVG": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        "HTML": b"<!doctype html>" + SCRIPT,
        "PDF": b"%PDF-1.7\n" + bytes(100),
        "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(id) system",
        "program": b"\x7fELF" + bytes(200),
        "video": b"\0\0\0\x18ftypisom\0\0\0\0isomavif" + bytes(100),
        "HEIC": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(100),
        "nothing": b"",
        "zeros": bytes(5000),
        "script with the start of a JPEG": b"\xff\xd8\xff" + SCRIPT * 9,
        "script with the start of a GIF": b"GIF89a" + SCRIPT * 9,
        "script with the start of a PNG": PNG_START + SCRIPT * 9,
        "script with the start of a WebP": b"RIFF\xff\xff\0\0WEBP" + SCRIPT * 9,
        "script with the start of an AVIF": b"\0\0\0\x1cftypavif\0\0\0\0" + SCRIPT * 9,
    }
    others |= {kind: encode(draw(96, 64), kind) for kind in ("BMP", "TIFF", "ICO", "PPM", "TGA", "PCX")}
    for name, content in others.items():
        yield name, content, False


# The functions above, and how many files each makes.
MAKERS = {
    make_oriented_files: 24,
    make_large_files: 21,
    make_truncated_files: 35,
    make_corrupt_files: 60,
    make_polyglots: 15,
    make_unusual_files: 13,
    make_files_with_metadata: 20,
    make_other_types: 20,
}
