"""Write the variants of an image, without its metadata.

This is the child process of `blog.services.image_processing`: `python -m blog.images.variants MEMORY SECONDS`. A
request has the arguments of `make_variants`, a response is a `Result` or the reason of a rejection, both as JSON. A
failure that says nothing about the image, such as a full disk, is a traceback. Neither Django nor the settings are
imported.
"""

import hashlib
import json
from base64 import b64encode
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from blog.images.decoding import Frames, Rejected, explain, read_image, release
from blog.images.formats import AVIF, GIF, JPEG, MAX_ENCODED, PNG, WEBP, Format, list_extensions, list_widths
from blog.images.thumbhash import MAX_SIDE as THUMB_SIDE
from blog.images.thumbhash import encode_thumbhash
from contentapi.core.limited_child import be_gentle, respond_within_limits

MAX_VARIANT_SIDE = 16_383  # pixels, of WebP
# How a file is written. The original keeps more of the quality than its variants.
ORIGINALS: dict[Format, dict[str, Any]] = {
    JPEG: {"quality": 92, "optimize": True, "progressive": True},
    PNG: {"compress_level": 3},  # 50 megapixels within the limit of time
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
# The formats of variants that are animations. Each frame takes its time.
ANIMATED: dict[Format, dict[str, Any]] = {WEBP: {"method": 2, "minimize_size": False}, AVIF: {"speed": 10}}


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


@explain("The image cannot be converted")
def make_variants(source: Path, folder: Path, *, with_avif: bool) -> Result:
    """Write the files of an image to a folder. Raises `Rejected`, `MemoryError`, and `OSError` for a full disk."""
    kind, frames, has_alpha = read_image(source)
    width, height = frames.images[0].size
    extensions = list_extensions(has_alpha=has_alpha, with_avif=with_avif)
    variants = [each for each in VARIANTS if each.extension in extensions]
    kind = choose_format(kind, frames, has_alpha=has_alpha)
    original = f"{width}.{kind.extension}"
    save(frames, folder / original, kind, ORIGINALS[kind], animate=kind is not JPEG)
    thumbhash = make_thumbhash(frames.images[0])
    smaller, files = frames, [original]
    for each in reversed(list_widths(width, height)):  # each from the next wider one, which is faster
        # A height of 16,384 pixels becomes one of 16,383: nobody sees it.
        side = max(1, round(height * each / width))
        smaller = shrink(smaller, (each, min(MAX_VARIANT_SIDE, side)))
        for variant in variants:
            name = f"{each}.{variant.extension}"
            if name != original:
                is_animated = variant in ANIMATED
                save(smaller, folder / name, variant, VARIANTS[variant], animate=is_animated)
                files.append(name)
    written = (folder / original).read_bytes()
    digest = hashlib.sha256(written).hexdigest()
    return Result(width, height, kind.content_type, len(written), digest, thumbhash, has_alpha, files)


def choose_format(kind: Format, frames: Frames, *, has_alpha: bool) -> Format:
    """Return the format of the original: that of the file, or one whose encoder needs less memory."""
    width, height = frames.images[0].size
    if kind not in (AVIF, WEBP) or width * height <= MAX_ENCODED:
        return kind
    return WEBP if len(frames.images) > 1 else PNG if has_alpha else JPEG


def shrink(frames: Frames, size: tuple[int, int]) -> Frames:
    """Return the frames in another size. The memory of the present ones is released."""
    if frames.images[0].size == size:
        return frames
    return frames._replace(images=[shrink_image(image, size) for image in frames.images])


def shrink_image(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if image.mode == "RGBA":  # `resize` would do the same beside the image, in twice the memory
        image = release(image, image.convert("RGBa"))
    small = release(image, image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0))
    return small.convert("RGBA") if small.mode == "RGBa" else small


def make_thumbhash(image: Image.Image) -> str:
    largest = max(image.size)
    width, height = (max(1, round(side * THUMB_SIDE / largest)) for side in image.size)
    small = image if largest <= THUMB_SIDE else image.resize((width, height), reducing_gap=2.0)
    content = small.convert("RGBA").tobytes()
    pixels = [content[start : start + 4] for start in range(0, len(content), 4)]
    return b64encode(encode_thumbhash(*small.size, pixels)).decode()


def save(frames: Frames, path: Path, kind: Format, options: dict[str, Any], *, animate: bool) -> None:
    """Write the frames of an animation or, without `animate`, the first one."""
    first, *others = frames.images
    if others and animate:
        timing = {"save_all": True, "append_images": others, "duration": frames.durations}
        if kind is not GIF:
            timing["loop"] = frames.times
        elif frames.times != 1:  # GIF counts the repetitions, and has no number for none
            repetitions = frames.times - 1
            timing["loop"] = max(0, repetitions)
        options = options | timing | ANIMATED.get(kind, {})
    elif kind is JPEG and first.mode != "RGB":
        first = first.convert("RGB")
    first.save(path, kind.name, **options)


def build_response(request: bytes) -> bytes:
    source, folder, with_avif = json.loads(request)
    response: dict[str, Any]
    try:
        response = make_variants(Path(source), Path(folder), with_avif=with_avif)._asdict()
    except Rejected as error:
        response = {"rejection": str(error)}
    except MemoryError:
        response = {"rejection": "The image needs more memory than the limit. Upload it in a smaller size."}
    return json.dumps(response).encode()


if __name__ == "__main__":
    be_gentle()
    respond_within_limits(build_response)
