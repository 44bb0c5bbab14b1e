"""Decode an image: upright, in sRGB, in RGB or RGBA. Only a child process with limits calls this.

The file comes from a stranger: every value in it may be wrong. Its orientation is applied and its colours are
converted, so that neither needs metadata; nothing else of them is kept.
"""

import ctypes
import io
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, EDQUOT, EIO, EMFILE, ENFILE, ENOENT, ENOMEM, ENOSPC, EPERM, EROFS
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageCms, ImageOps, ImageSequence, UnidentifiedImageError, _webp

from blog.images.formats import AVIF, FORMATS, GIF, MAX_FRAMES, MAX_PIXELS, MAX_SIDE, WEBP, Format
from blog.images.metadata import add_end, open_without_metadata

Image.MAX_IMAGE_PIXELS = None  # `require_size` has the limit, and a message
FAILURES_OF_THE_HOST = {EACCES, EDQUOT, EIO, EMFILE, ENFILE, ENOENT, ENOMEM, ENOSPC, EPERM, EROFS}
SRGB = ImageCms.createProfile("sRGB")
MAX_CANVASES = 24_000_000  # pixels of the canvases of the decoder of animated WebP, of which it needs several
MAX_HEADER = 64 * 1024  # bytes, in which an AVIF states the sizes of its parts
SIZE_OF_AVIF = re.compile(rb"ispe\0{4}(.{8})", re.DOTALL)


class Rejected(Exception):
    """The image breaks a rule, which the message states."""


class Frames(NamedTuple):
    """The frames of an image, how long an animation shows each, in milliseconds, and how often it shows them all."""

    images: list[Image.Image]
    durations: list[int]
    times: int


def read_image(source: Path) -> tuple[Format, Frames, bool]:
    """Return the format of an image, its frames in RGB or RGBA, and whether they have transparency."""
    kind, frames = decode(source)
    has_alpha = any(has_transparency(each) for each in frames.images)
    mode = "RGBA" if has_alpha else "RGB"
    images = [each if each.mode == mode else release(each, each.convert(mode)) for each in frames.images]
    return kind, frames._replace(images=images), has_alpha


def decode(source: Path) -> tuple[Format, Frames]:
    """Return the format of an image, and its frames. In the end, nothing refers to the decoder and its memory."""
    with explain("The file is damaged"):
        file = open_without_metadata(source)
        try:
            return decode_file(source, file)
        except OSError as error:
            if not isinstance(file, io.BytesIO) or "truncated" not in str(error):
                raise
            damage = error.with_traceback(None)  # which refers to the memory of the decoder
        completed = add_end(file.getvalue())
        if completed is None:
            raise damage
        return decode_file(source, io.BytesIO(completed))


def decode_file(source: Path, file: Path | io.BytesIO) -> tuple[Format, Frames]:
    content = source.read_bytes()
    require_size(*read_stated_size(content), 1)
    is_animation = content[12:16] == b"VP8X" and content[20] & 2  # of WebP, perhaps of one frame
    del content
    names = [each.name for each in FORMATS]
    with Image.open(file, formats=names) as image:
        kind = next(each for each in FORMATS if each.name == image.format)
        number = getattr(image, "n_frames", 1)
        require_size(*image.size, number)
        size = image.size
        info = image.info
        if kind is not WEBP or size[0] * size[1] <= MAX_CANVASES or is_animation:
            if kind is WEBP:
                require_memory(*size, number)
            return kind, read_frames(kind, image, number)
    del image  # Pillow reads each WebP as an animation, in three canvases more
    picture = normalize(read_large_webp(source, size, info))
    return kind, Frames([picture], [0], 0)


def read_stated_size(content: bytes) -> tuple[int, int]:
    """Return the size that a WebP or an AVIF states, zeros for another format.

    Pillow creates the canvases of a WebP before it states the size, and opens no AVIF that is too large.
    """
    if content[4:8] == b"ftyp":
        sizes = [struct.unpack(">II", stated) for stated in SIZE_OF_AVIF.findall(content, 0, MAX_HEADER)]
        return max(sizes, default=(0, 0), key=prod)
    read_size = getattr(ctypes.CDLL(_webp.__file__), "WebPGetInfo", None)
    width, height = ctypes.c_int(), ctypes.c_int()
    if read_size is not None:
        read_size(content, ctypes.c_size_t(len(content)), ctypes.byref(width), ctypes.byref(height))
    return width.value, height.value


def read_large_webp(source: Path, size: tuple[int, int], info: dict[Any, Any]) -> Image.Image:
    """Return the image of a WebP by the function of Pillow's library for those that are no animations.

    Raises `MemoryError` if the library does not have it: Pillow's own way would need too much.
    """
    decode_into = getattr(ctypes.CDLL(_webp.__file__), "WebPDecodeRGBAInto", None)
    if decode_into is None:
        raise MemoryError
    content = source.read_bytes()
    width, height = size
    pixels = bytearray(4 * width * height)
    target = (ctypes.c_char * len(pixels)).from_buffer(pixels)
    decode_into.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    decode_into.restype = ctypes.c_void_p
    if not decode_into(content, len(content), target, len(pixels), 4 * width):
        raise Rejected("The file is damaged: its image cannot be decoded.")
    image = Image.frombuffer("RGBA", size, pixels, "raw", "RGBA", 0, 1)
    image.info = info
    return image


def require_memory(width: int, height: int, number: int) -> None:
    """Raise `Rejected` for an animation whose decoder needs more memory than the limit: it would call it damaged."""
    if width * height * (number + 3) > 4 * MAX_CANVASES:
        most, kind = 4 * MAX_CANVASES / (number + 3) / 1e6, f"WebP of {number} frames"
        raise Rejected(f"A {kind} may have at most {most:.1f} megapixels, because decoding it takes much memory.")


def require_size(width: int, height: int, number: int) -> None:
    if max(width, height) > MAX_SIDE:
        raise Rejected(f"At most {MAX_SIDE:,} pixels a side are allowed (got {width:,} x {height:,}).")
    if number > MAX_FRAMES:
        raise Rejected(f"At most {MAX_FRAMES} frames are allowed (got {number:,}).")
    if width * height * number > MAX_PIXELS:
        millions, most = width * height * number / 1e6, MAX_PIXELS // 10**6
        raise Rejected(f"At most {most} megapixels are allowed, in all frames together (got {millions:,.1f}).")


def read_frames(kind: Format, image: Image.Image, number: int) -> Frames:
    if number == 1:
        image.load()
        vars(image).pop("_decoder", None)  # of WebP and AVIF: it holds what it has decoded for as long as it exists
        return Frames([normalize(image)], [0], 0)
    times, has_default = count_times(kind, image), bool(image.info.get("default_image"))
    images, durations, size = [], [], image.size
    for place, frame in enumerate(ImageSequence.Iterator(image)):
        if frame.size != size:  # a later one can enlarge the image
            raise Rejected("The file is damaged: its frames have different sizes.")
        frame.load()  # WebP and AVIF then know the time of the frame
        if place or not has_default:  # the first image is for programs without animations
            duration = frame.info.get("duration") or 0  # in ms; browsers show a frame of up to 10 for 100
            durations.append(round(duration) if duration > 10 else 100)
            images.append(normalize(frame.copy()))
    return Frames(images, durations, times)


def count_times(kind: Format, image: Image.Image) -> int:
    """Return how often an animation is shown; 0 is for ever. GIF counts its repetitions, and AVIF has no number."""
    repeated = image.info.get("loop")
    if repeated is None:
        return 0 if kind is AVIF else 1
    return int(repeated) + 1 if kind is GIF and repeated else int(repeated)


def normalize(image: Image.Image) -> Image.Image:
    """Return an image upright, in sRGB with 8 bits for a channel, and without metadata."""
    turn(image)
    is_translucent = image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info
    mode = "RGBA" if is_translucent else "RGB"
    profile = image.info.get("icc_profile")
    if image.mode.startswith(("I", "F")):
        image = release(image, reduce_depth(image))
    elif image.mode != mode and (is_translucent or image.mode not in ("RGB", "L", "CMYK")):
        image = release(image, image.convert(mode))
    if profile:
        image = release(image, apply_profile(image, profile, mode))
    image = image if image.mode == mode else release(image, image.convert(mode))
    image.info.clear()
    return image


def turn(image: Image.Image) -> None:
    """Turn an image upright. Damaged EXIF does not make it damaged."""
    try:
        ImageOps.exif_transpose(image, in_place=True)
    except Exception as error:
        if isinstance(error, MemoryError):
            raise


def reduce_depth(image: Image.Image) -> Image.Image:
    """Return the upper 8 bits of an image with one channel of 16."""
    return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")


def apply_profile(image: Image.Image, profile: bytes, mode: str) -> Image.Image:
    """Return an image in sRGB. A profile that is damaged, or of other channels, is ignored, as browsers do."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if image.mode == mode:
            ImageCms.profileToProfile(image, source, SRGB, inPlace=True)
            return image
        return ImageCms.profileToProfile(image, source, SRGB, outputMode=mode) or image
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image


def has_transparency(image: Image.Image) -> bool:
    if image.mode != "RGBA":
        return False
    lowest, _ = image.getchannel("A").getextrema()
    return isinstance(lowest, int | float) and lowest < 255


def release(old: Image.Image, new: Image.Image) -> Image.Image:
    """Return the new image, and release the memory of the one of which it was made."""
    if new is not old:
        old.close()
    return new


@contextmanager
def explain(problem: str) -> Iterator[None]:
    """Raise `Rejected` in place of what Pillow raises. A failure of the host, such as a full disk, stays."""
    try:
        yield
    except (Rejected, MemoryError, ImportError):
        raise
    except UnidentifiedImageError:  # its message has the path of the file
        raise Rejected("The file is no image of the allowed formats, or is damaged.") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FAILURES_OF_THE_HOST:
            raise
        if re.search(r"memory|encoding error 1\b", str(error)):  # of a codec
            raise MemoryError from None
        shown = " ".join(str(error).split())[:200].rstrip(".")  # has no part of the file but its values
        raise Rejected(f"{problem}: {shown or type(error).__name__}.") from None
