"""ThumbHash: a placeholder of an image in about 25 bytes, from which a page draws a blurred picture.

This is the encoder of https://evanw.github.io/thumbhash/. The colours are averaged, the differences between the pixels
are written as the lowest frequencies of a cosine transform: of the luminance, of yellow against blue, of red against
green and, if the image has transparency, of the opacity.
"""

from collections.abc import Sequence
from math import cos, floor, pi
from typing import NamedTuple

MAX_SIDE = 100  # pixels

Pixel = Sequence[int]  # red, green, blue, alpha: 0 to 255


class Channel(NamedTuple):
    """The constant term of a channel, the others from 0 to 1, and by what these were divided."""

    constant: float
    terms: list[float]
    scale: float


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
    has_alpha = any(pixel[3] < 255 for pixel in pixels)
    most = 5 if has_alpha else 7  # fewer terms of the luminance leave room for the opacity
    columns, rows = (max(1, round_half_up(most * side / max(width, height))) for side in (width, height))
    luminance = encode_channel([sum(color) / 3 for color in colors], width, height, max(3, columns), max(3, rows))
    yellow = encode_channel([(red + green) / 2 - blue for red, green, blue in colors], width, height, 3, 3)
    red = encode_channel([red - green for red, green, _ in colors], width, height, 3, 3)
    channels = [luminance, yellow, red]
    header = (
        round_half_up(63 * luminance.constant)
        | round_half_up(31.5 + 31.5 * yellow.constant) << 6
        | round_half_up(31.5 + 31.5 * red.constant) << 12
        | round_half_up(31 * luminance.scale) << 18
        | has_alpha << 23
    )
    is_landscape = width > height
    sizes = (
        (rows if is_landscape else columns)
        | round_half_up(63 * yellow.scale) << 3
        | round_half_up(63 * red.scale) << 9
        | is_landscape << 15
    )
    written = header.to_bytes(3, "little") + sizes.to_bytes(2, "little")
    if has_alpha:
        alpha = encode_channel(opacities, width, height, 5, 5)
        written += bytes([round_half_up(15 * alpha.constant) | round_half_up(15 * alpha.scale) << 4])
        channels.append(alpha)
    return written + pack([round_half_up(15 * term) for channel in channels for term in channel.terms])


def encode_channel(values: Sequence[float], width: int, height: int, columns: int, rows: int) -> Channel:
    """Return the terms of a channel whose frequencies are in the upper left triangle."""
    horizontal = [[cos(pi / width * index * (x + 0.5)) for x in range(width)] for index in range(columns)]
    vertical = [[cos(pi / height * index * (y + 0.5)) for y in range(height)] for index in range(rows)]
    lines = [values[start : start + width] for start in range(0, width * height, width)]
    terms = []
    for row in range(rows):
        for column in range(columns):
            if column * rows >= columns * (rows - row):
                break
            waves = horizontal[column]
            sums = (sum(map(float.__mul__, line, waves)) for line in lines)
            terms.append(sum(map(float.__mul__, sums, vertical[row])) / (width * height))
    constant, *others = terms
    scale = max(map(abs, others), default=0.0)
    return Channel(constant, [0.5 + 0.5 / scale * term if scale else term for term in others], scale)


def round_half_up(value: float) -> int:
    """Round as JavaScript does, in which the format is defined."""
    return floor(value + 0.5)


def pack(numbers: Sequence[int]) -> bytes:
    """Return the bytes of numbers from 0 to 15, two in each, the lower half first."""
    padded = [*numbers, *[0] * (len(numbers) % 2)]
    return bytes(low | high << 4 for low, high in zip(padded[::2], padded[1::2], strict=True))
