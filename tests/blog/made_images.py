"""Makes the files of an image in a folder, and opens them, for tests."""

from pathlib import Path
from typing import Any

from PIL import Image

from blog.images.variants import Result, make_variants


def make(content: bytes, folder: Path, *, with_avif: bool = False) -> Result:
    source = folder / "source"
    source.write_bytes(content)
    (folder / "files").mkdir(exist_ok=True)
    return make_variants(source, folder / "files", with_avif=with_avif)


def open_file(folder: Path, name: str) -> Any:
    """Return an image of the folder, which the caller closes."""
    return Image.open(folder / "files" / name)


def is_near(color: Any, other: Any, most: int = 24) -> bool:
    return all(abs(one - two) <= most for one, two in zip(color, other, strict=True))
