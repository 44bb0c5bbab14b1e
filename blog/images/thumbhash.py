"""ThumbHash: a placeholder of an image in about 25 bytes, from which a page draws a blurred picture.

This is the encoder of https://evanw.github.io/thumbhash/. The colours are averaged, the differences between the pixels
are written as the lowest frequencies of a cosine transform: of the luminance, of yellow against blue, of red against
green and, if the image has transparency, of the opacity.
"""

from collections.abc import Sequence
from math import cos, floor, pi

MAX_SIDE = 100  # pixels

Pixel = Sequence[int]  # red, green, blue, alpha: 0 to 255


def encode_thumbhash(width: int, height: int, pixels: Sequence[Pixel]) -> bytes:
    """Return the hash of an image of at most 100 by 100 pixels, by rows."""
    opacities = [pixel[3] / 255 for pixel in pixels]
    total = sum(opacities)
    average = [
        sum(opacity * pixel[index] / 255 for pixel, opacity in zip(pixels, opacities, strict=True)) / (total or 1)
        for index in range(3)
    ]
    colors = [
        [average[index] * (1 - opacity) + opacity * pixel[index] / 255 for index in range(3)]
        for pixel, opacity in zip(pixels, opacities, strict=True)
    ]
    has_alpha, is_landscape = any(opacity < 1 for opacity in opacities), width > height
    most = 5 if has_alpha else 7  # fewer terms of the luminance leave room for the opacity
    columns, rows = (max(1, scale(most, side / max(width, height))) for side in (width, height))
    channels = [
        encode_channel([sum(color) / 3 for color in colors], width, height, max(3, columns), max(3, rows)),
        encode_channel([(red + green) / 2 - blue for red, green, blue in colors], width, height, 3, 3),
        encode_channel([red - green for red, green, _ in colors], width, height, 3, 3),
    ]
    (light, light_scale, _), (yellow, yellow_scale, _), (red, red_scale, _) = channels
    header = scale(63, light) | scale(31.5, 1 + yellow) << 6 | scale(31.5, 1 + red) << 12
    header |= scale(31, light_scale) << 18 | has_alpha << 23 | (rows if is_landscape else columns) << 24
    header |= scale(63, yellow_scale) << 27 | scale(63, red_scale) << 33 | is_landscape << 39
    written = header.to_bytes(5, "little")
    if has_alpha:
        opacity, opacity_scale, _ = encoded = encode_channel(opacities, width, height, 5, 5)
        written += bytes([scale(15, opacity) | scale(15, opacity_scale) << 4])
        channels.append(encoded)
    halves = [scale(15, term) for *_, terms in channels for term in terms] + [0]
    return written + bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2], strict=False))


def encode_channel(
    values: Sequence[float], width: int, height: int, columns: int, rows: int
) -> tuple[float, float, list[float]]:
    """Return the constant term, the largest other one, and the others from 0 to 1.

    They are those whose frequencies are in the upper left triangle.
    """
    horizontal = [[cos(pi / width * index * (x + 0.5)) for x in range(width)] for index in range(columns)]
    vertical = [[cos(pi / height * index * (y + 0.5)) for y in range(height)] for index in range(rows)]
    lines = [values[start : start + width] for start in range(0, width * height, width)]
    terms = []
    for row, heights in enumerate(vertical):
        for waves in horizontal[: -(-columns * (rows - row) // rows)]:
            sums = (sum(map(float.__mul__, line, waves)) for line in lines)
            terms.append(sum(map(float.__mul__, sums, heights)) / (width * height))
    constant, *others = terms
    largest = max(map(abs, others), default=0.0)
    return constant, largest, [0.5 + 0.5 / largest * term if largest else term for term in others]


def scale(most: float, value: float) -> int:
    """Return a value from 0 to 1 as a whole number, rounded as JavaScript does, in which the format is defined."""
    return floor(most * value + 0.5)
