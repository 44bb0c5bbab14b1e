"""The placeholders of images, compared with those that the encoder of the format's author makes."""

import pytest

from blog.images.thumbhash import encode_thumbhash

VECTORS: list[tuple[int, int, bool, str]] = []


def make_pixels(width: int, height: int, *, has_alpha: bool) -> list[tuple[int, int, int, int]]:
    return [
        (
            (7 * x + 3 * y) % 256,
            (x * x + 11 * y) % 256,
            (5 * x * y + 40) % 256,
            (13 * x + 17 * y) % 256 if has_alpha else 255,
        )
        for y in range(height)
        for x in range(width)
    ]


@pytest.mark.parametrize(("width", "height", "has_alpha", "expected"), VECTORS)
def test_hash_is_that_of_the_package_thumbhash(width: int, height: int, has_alpha: bool, expected: str) -> None:  # noqa: FBT001
    """The hashes are those of the npm package thumbhash 0.1.1."""
    assert encode_thumbhash(width, height, make_pixels(width, height, has_alpha=has_alpha)).hex() == expected


@pytest.mark.parametrize(("width", "height", "number"), [(101, 1, 101), (1, 101, 101), (2, 2, 3)])
def test_image_that_is_too_large_or_incomplete_is_an_error(width: int, height: int, number: int) -> None:
    with pytest.raises(ValueError, match="do not fit in 100 x 100"):
        encode_thumbhash(width, height, [(0, 0, 0, 255)] * number)
