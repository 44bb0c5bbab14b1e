"""Check that the texts of a JSON value can be stored, count bytes, join JSON texts, and convert names."""

from contentapi.core.errors import Malformed
from contentapi.core.unicode import is_storable


def require_storable(value: object) -> int:
    """Return the number of keys and values in a decoded JSON value. Raises `Malformed` if a text cannot be stored."""
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


def count_byte(text: bytes, byte: bytes) -> int:
    """Return `text.count(byte)`, which takes ten times as long in a text with few such bytes, unless it is short."""
    return text.count(byte) if len(text) < 500 else len(text) - len(text.replace(byte, b""))


def convert_to_camel(name: str) -> str:
    """Return the name of a column on both transports: `canonicalUrl` for `canonical_url`."""
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def consume_into_json_array(items: list[bytes]) -> bytes:
    """Return a JSON array of JSON texts. Empties the list, so that a large response is in memory only once."""
    if not items:
        return b"[]"
    items[0] = b"[" + items[0]
    items[-1] += b"]"
    array = b",".join(items)
    items.clear()
    return array
