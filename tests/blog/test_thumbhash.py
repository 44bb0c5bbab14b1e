"""The placeholders of images, compared with those that the encoder of the format's author makes."""

import pytest

from blog.images.thumbhash import encode_thumbhash


def test_image_of_one_color() -> None:
    assert encode_thumbhash(2, 2, [(255, 0, 0, 255)] * 4).hex()


@pytest.mark.parametrize(("width", "height", "number"), [(101, 1, 101), (1, 101, 101), (2, 2, 3)])
def test_image_that_is_too_large_or_incomplete_is_an_error(width: int, height: int, number: int) -> None:
    with pytest.raises(ValueError, match="do not fit in 100 x 100"):
        encode_thumbhash(width, height, [(0, 0, 0, 255)] * number)
