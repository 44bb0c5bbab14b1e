"""Pages and their limits, for both transports."""

from django.conf import settings

from contentapi.errors import Malformed


def require_page_size(limit: int | None, *, default: int) -> int:
    """Return how many items a page holds; None stands for the default. Raises `Malformed` outside the limits."""
    size = default if limit is None else limit
    most = settings.ENVIRONMENT.contentapi_max_page
    if not 1 <= size <= most:
        raise Malformed(f"limit must be from 1 to {most} (CONTENTAPI_MAX_PAGE), and is {size}.")
    return size


def parse_id(text: str) -> int:
    """Return the number that an id names; 0, which names nothing, for no number and for one past 64 bits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        return 0
    number = int(text)
    return number if str(number) == text and number < 2**63 else 0
