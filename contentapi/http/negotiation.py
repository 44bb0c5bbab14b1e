"""Choose the media type of a response by Accept (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence

from django.http.request import MediaType

PROBLEM = "application/problem+json"  # RFC 9457


def select_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """Return the offered type that Accept prefers, or None if it allows none. The first of equal types wins.

    Django's own selection compares parameters, which the offered types do not have, and ignores `q=0`.
    """
    ranges = [MediaType(text) for text in accept.split(",") if text.strip()] or [MediaType("*/*")]
    best = max(offered, key=lambda media_type: get_quality(ranges, media_type))
    return best if get_quality(ranges, best)[0] > 0 else None


def get_quality(ranges: Sequence[MediaType], media_type: str) -> tuple[float, int]:
    """Return the quality of the most specific range that covers a type, and minus the index of that range."""
    main, sub = media_type.split("/")
    covering = [
        ((kind.main_type != "*") + (kind.sub_type != "*"), -index, kind.quality)
        for index, kind in enumerate(ranges)
        if kind.main_type in ("*", main) and kind.sub_type in ("*", sub)
    ]
    _, earliness, quality = max(covering, default=(0, 0, 0.0))
    return quality, earliness


def wants_problem(accept: str) -> bool:
    """Return whether Accept names problem details. A range such as `application/*` does not name them."""
    return PROBLEM in accept.lower() and select_media_type(accept, [PROBLEM]) is not None
