"""What may be stored as text: any Unicode but NUL, which PostgreSQL has no place for, and lone surrogates."""

from contentapi.errors import Malformed


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
