"""What may be stored as text: any Unicode but NUL, which PostgreSQL has no place for, and lone surrogates.

And how JSON texts are joined.
"""

from contentapi.core.errors import Malformed


def is_storable(text: str) -> bool:
    try:
        text.encode()  # a lone surrogate has no encoding
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def require_storable(value: object) -> int:
    """Refuse a decoded JSON value that holds, at any depth, a string that cannot be stored.

    Returns how many values it is of: itself, and all keys and values in it.
    """
    pending = [value]
    number = 0
    while pending:
        number += 1
        match pending.pop():
            case str() as text if not is_storable(text):
                raise Malformed("Text must not contain the NUL character or lone surrogates.")
            case dict() as members:
                pending.extend(members.keys())
                pending.extend(members.values())
            case list() as items:
                pending.extend(items)
    return number


def json_array(items: list[bytes]) -> bytes:
    """Return a JSON array of JSON texts. Uses the list up, so that a large response is not kept in memory twice."""
    if not items:
        return b"[]"
    items[0] = b"[" + items[0]
    items[-1] += b"]"
    array = b",".join(items)
    items.clear()
    return array
