"""Makes small image files for tests."""

import hashlib
import io
from collections.abc import Callable
from functools import cache
from typing import Any

from PIL import Image

from contentapi.http.uploads import SentFile

GPS = 0x8825  # the directory of EXIF with the place where a picture was taken
ORIENTATION = 0x0112
SECRET = "Where the treasure is"  # a text in the metadata


def send_file(content: bytes, name: str = "boat.jpg") -> Callable[[], SentFile]:
    """Return the function with which a service reads a file that a client has sent."""
    return lambda: SentFile(io.BytesIO(content), name, len(content), hashlib.sha256(content).digest())


def draw(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Return an image that is red on the left, blue on the right and darker at the bottom."""
    gradient = Image.linear_gradient("L").resize((width, height))
    left, right = gradient.transpose(Image.Transpose.ROTATE_90), gradient.transpose(Image.Transpose.ROTATE_270)
    channels = [left.resize((width, height)), gradient, right.resize((width, height))]
    return Image.merge("RGB", channels).convert(mode)


def encode(image: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


@cache
def make_jpeg(width: int = 400, height: int = 200, orientation: int = 1) -> bytes:
    """Return a JPEG with an orientation, and with metadata that nobody must see."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[0x010E] = SECRET
    exif.get_ifd(GPS)[2] = (54.0, 5.0, 30.0)
    return encode(draw(width, height), exif=exif, comment=SECRET.encode())


@cache
def make_png(width: int = 400, height: int = 200) -> bytes:
    """Return a PNG whose upper half is transparent."""
    image = draw(width, height).convert("RGBA")
    image.putalpha(Image.linear_gradient("L").resize((width, height)))
    return encode(image, "PNG")


@cache
def make_gif(frames: int = 3, width: int = 400, height: int = 200) -> bytes:
    first, *others = [
        Image.new("RGB", (width, height), (53 * number % 256, 101 * number % 256, 37 * number % 256))
        for number in range(frames)
    ]
    return encode(first, "GIF", save_all=True, append_images=others, duration=80, loop=0)
