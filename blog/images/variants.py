"""Decode an image and write its variants, without its metadata. Only a child process with limits calls this.

The file comes from a stranger: every value in it may be wrong. An image is decoded once. Its orientation is applied and
its colours are converted to sRGB, so that neither needs metadata; nothing else of them is written.
"""

import hashlib
import io
from base64 import b64encode
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageCms, ImageSequence, UnidentifiedImageError

from blog.images.formats import (
    AVIF,
    FORMATS,
    GIF,
    JPEG,
    MAX_FRAMES,
    MAX_PIXELS,
    MAX_SIDE,
    PNG,
    WEBP,
    Format,
    list_extensions,
    list_variants,
    list_widths,
)
from blog.images.thumbhash import MAX_SIDE as THUMB_SIDE
from blog.images.thumbhash import encode_thumbhash

Image.MAX_IMAGE_PIXELS = None  # `require_size` has the limit, and a message
SRGB = ImageCms.createProfile("sRGB")
HALF = 256  # of two bytes of a channel, the lower one
MAX_VARIANT_SIDE = 16_383  # of WebP
MAX_CANVASES = 24_000_000  # pixels of the canvases of the decoder of WebP, of which it needs several in full size
ORIENTATION = 0x0112  # the tag of EXIF
TRANSPOSITIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# How a file is written. The original keeps more of the quality than its variants.
ORIGINALS: dict[Format, dict[str, Any]] = {
    JPEG: {"quality": 92, "optimize": True, "progressive": True},
    PNG: {"compress_level": 6},
    WEBP: {"quality": 92, "method": 4},
    AVIF: {"quality": 85, "speed": 8, "max_threads": 1},
    GIF: {},
}
VARIANTS: dict[Format, dict[str, Any]] = {
    JPEG: {"quality": 82, "optimize": True, "progressive": True},
    PNG: {"compress_level": 6},
    WEBP: {"quality": 80, "method": 4},
    AVIF: {"quality": 60, "speed": 8, "max_threads": 1},
}
ANIMATED: dict[str, Any] = {"method": 2, "minimize_size": False}  # of WebP: each frame takes its time


class Rejected(Exception):
    """The image breaks a rule, which the message states."""


class Result(NamedTuple):
    """What was made of an image. `files` are the names in the folder; the first is that of the original.

    Type, size and SHA-256 are those of the original.
    """

    width: int
    height: int
    content_type: str
    size: int
    sha256: str
    thumbhash: str
    has_alpha: bool
    files: list[str]


class Frames(NamedTuple):
    """The frames of an image, and how long an animation shows each, in milliseconds."""

    images: list[Image.Image]
    durations: list[int]
    loop: int

    def shrink(self, size: tuple[int, int]) -> "Frames":
        """Return the frames in another size. The memory of the present ones is released."""
        if self.images[0].size == size:
            return self
        return self._replace(images=[shrink(image, size) for image in self.images])


def make_variants(source: Path, folder: Path, *, with_avif: bool) -> Result:
    """Write the files of an image to a folder. Raises `Rejected`, and `MemoryError`."""
    kind, frames, has_alpha = read_image(source)
    width, height = frames.images[0].size
    extensions = list_extensions(has_alpha=has_alpha, with_avif=with_avif)
    original = f"{width}.{kind.extension}"
    save(frames, folder / original, kind, ORIGINALS[kind], animate=kind is not JPEG)
    thumbhash = make_thumbhash(frames.images[0])
    smaller, files = frames, [original]
    for each in reversed(list_widths(width)):  # each from the next wider one, which is read faster than the original
        smaller = smaller.shrink((each, min(MAX_VARIANT_SIDE, max(1, round(height * each / width)))))
        for name in list_variants([each], extensions):
            if name != original:
                kind_of_file = find_format(name)
                save(smaller, folder / name, kind_of_file, VARIANTS[kind_of_file], animate=kind_of_file is WEBP)
                files.append(name)
    written = (folder / original).read_bytes()
    digest = hashlib.sha256(written).hexdigest()
    return Result(width, height, kind.content_type, len(written), digest, thumbhash, has_alpha, files)


def shrink(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if image.mode == "RGBA":  # `resize` would do the same beside the image, in twice the memory
        image = release(image, image.convert("RGBa"))
    small = release(image, image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0))
    return small.convert("RGBA") if small.mode == "RGBa" else small


def release(old: Image.Image, new: Image.Image) -> Image.Image:
    """Return the new image, and release the memory of the one of which it was made."""
    if new is not old:
        old.close()
    return new


def find_format(name: str) -> Format:
    return next(each for each in FORMATS if each.extension == name.rpartition(".")[2])


def read_image(source: Path) -> tuple[Format, Frames, bool]:
    """Return the format of an image, its frames in RGB or RGBA, and whether they have transparency."""
    kind, frames = decode(source)
    has_alpha = any(has_transparency(each) for each in frames.images)
    mode = "RGBA" if has_alpha else "RGB"
    images = [each if each.mode == mode else each.convert(mode) for each in frames.images]
    return kind, frames._replace(images=images), has_alpha


def decode(source: Path) -> tuple[Format, Frames]:
    """Return the format of an image, and its frames. In the end, nothing refers to the decoder and its memory."""
    try:
        with Image.open(source, formats=[each.name for each in FORMATS]) as image:
            kind = next((each for each in FORMATS if each.name == image.format), JPEG)  # JPEG with several pictures
            number = 1 if kind is JPEG else getattr(image, "n_frames", 1)
            require_size(*image.size, number)
            if kind is WEBP:
                require_memory(*image.size, number)
            return kind, read_frames(image, number)
    except (Rejected, MemoryError):
        raise
    except UnidentifiedImageError:  # its message has the path of the file
        raise Rejected("The file is no image of the allowed formats, or is damaged.") from None
    except Exception as error:  # noqa: BLE001 - each decoder raises others for a damaged file
        raise Rejected(f"The file is damaged: {shorten(error)}.") from None


def require_memory(width: int, height: int, number: int) -> None:
    """Raise `Rejected` for a WebP whose decoder would need more memory than the limit: it would call it damaged."""
    if width * height * (number + 3) > 4 * MAX_CANVASES:
        most = 4 * MAX_CANVASES / (number + 3) / 1e6
        frames = f" of {number} frames" if number > 1 else ""
        raise Rejected(f"A WebP{frames} may have {most:,.1f} megapixels, for its decoder needs the most memory.")


def require_size(width: int, height: int, number: int) -> None:
    if max(width, height) > MAX_SIDE:
        raise Rejected(f"At most {MAX_SIDE:,} pixels a side are allowed (got {width:,} x {height:,}).")
    if number > MAX_FRAMES:
        raise Rejected(f"At most {MAX_FRAMES} frames are allowed (got {number:,}).")
    if width * height * number > MAX_PIXELS:
        millions, most = width * height * number / 1e6, MAX_PIXELS // 10**6
        raise Rejected(f"At most {most} megapixels are allowed, in all frames together (got {millions:,.1f}).")


def read_frames(image: Image.Image, number: int) -> Frames:
    if number == 1:
        image.load()
        # The decoder of WebP holds two canvases for as long as its image exists.
        return Frames([normalize(image.copy() if image.format == WEBP.name else image)], [0], 0)
    loop = int(image.info.get("loop", 1))  # how often; 0 is for ever
    images, durations = [], []
    for frame in ImageSequence.Iterator(image):
        require_size(*frame.size, number)
        durations.append(max(20, int(frame.info.get("duration", 100) or 100)))
        images.append(normalize(frame.copy()))
    return Frames(images, durations, loop)


def normalize(image: Image.Image) -> Image.Image:
    """Return an image upright, in sRGB with 8 bits for a channel, and without metadata."""
    image = turn(image)
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


def turn(image: Image.Image) -> Image.Image:
    """Return an image upright. Damaged EXIF does not make it damaged."""
    try:
        orientation = image.getexif().get(ORIENTATION)
    except Exception:  # noqa: BLE001 - a stranger has written it
        return image
    transposition = TRANSPOSITIONS.get(orientation) if isinstance(orientation, int) else None
    return image if transposition is None else release(image, image.transpose(transposition))


def reduce_depth(image: Image.Image) -> Image.Image:
    """Return the upper 8 bits of an image with one channel of 16."""
    return image.convert("I").point(lambda value: value * (1 / HALF)).convert("L")


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


def make_thumbhash(image: Image.Image) -> str:
    small = image if max(image.size) <= THUMB_SIDE else image.resize(fit(image.size), reducing_gap=2.0)
    content = small.convert("RGBA").tobytes()
    pixels = [content[start : start + 4] for start in range(0, len(content), 4)]
    return b64encode(encode_thumbhash(*small.size, pixels)).decode()


def fit(size: tuple[int, int]) -> tuple[int, int]:
    width, height = (max(1, round(side * THUMB_SIDE / max(size))) for side in size)
    return width, height


def save(frames: Frames, path: Path, kind: Format, options: dict[str, Any], *, animate: bool) -> None:
    """Write the frames of an animation or, without `animate`, the first one."""
    first, *others = frames.images
    if others and animate:
        timing = {"save_all": True, "append_images": others, "duration": frames.durations, "loop": frames.loop}
        options = options | timing | (ANIMATED if kind is WEBP else {})
    elif kind is JPEG and first.mode != "RGB":
        first = first.convert("RGB")
    try:
        first.save(path, kind.name, **options)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # a full disk says nothing about the image
            raise
        raise Rejected(f"The image cannot be written as {kind.name}: {shorten(error)}.") from None


def shorten(error: Exception) -> str:
    """Return the message of Pillow, which has no part of the file but its values."""
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
