"""Which of the offered media types a client wants most (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence

from django.http.request import MediaType

PROBLEM = "application/problem+json"  # RFC 9457


def select_media_type(accept: str, offered: Sequence[str]) -> str | None:
    """Return the offered type that an Accept header prefers, the first among equals; None when it allows none.

    Django's own choice compares parameters (a charset is none of ours) and overlooks that `q=0` forbids.
    """
    ranges = [MediaType(text) for text in accept.split(",") if text.strip()] or [MediaType("*/*")]
    best = max(offered, key=lambda media_type: get_quality(ranges, media_type))
    return best if get_quality(ranges, best)[0] > 0 else None


def get_quality(ranges: Sequence[MediaType], media_type: str) -> tuple[float, int]:
    """Return the quality of the most specific range that covers a type, and how early that range stands."""
    main, sub = media_type.split("/")
    covering = [
        ((kind.main_type != "*") + (kind.sub_type != "*"), -place, kind.quality)
        for place, kind in enumerate(ranges)
        if kind.main_type in ("*", main) and kind.sub_type in ("*", sub)
    ]
    _, place, quality = max(covering, default=(0, 0, 0.0))
    return quality, place


def wants_problem(accept: str) -> bool:
    """Say whether an Accept header names problem details: a range that covers them is not enough."""
    return PROBLEM in accept.lower() and select_media_type(accept, [PROBLEM]) is not None
