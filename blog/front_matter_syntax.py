"""The syntax of front matter: TOML between `+++` lines, YAML between `---` lines, or a JSON object.

The values of all three are stored as JSON: `encode_values` keeps the types that JSON does not have.
"""

import json
import re
import tomllib
from collections.abc import Callable
from datetime import date, datetime, time
from textwrap import shorten
from typing import Any

import tomli_w
import yaml

from contentapi.core.text import is_storable

MAX_VALUES = 10_000
MAX_NESTING = 50
FENCES = {"+++": "TOML", "---": "YAML"}
LINE_END = re.compile(r"[ \t\r]*(?:\n|\Z)")
UNICODE_LINE_ENDS = {"\x85", "\u2028", "\u2029"}
DECIMAL = re.compile(r"-?\d+\.\d+")
# JSON objects with one of these keys are values of another type.
DECODERS: dict[str, Callable[[Any], Any]] = {
    "$date": date.fromisoformat,
    "$datetime": datetime.fromisoformat,
    "$time": time.fromisoformat,
    "$float": float,
    "$items": lambda items: {decode_value(key): decode_value(value) for key, value in items},
}

Table = dict[Any, Any]


class InvalidFile(ValueError):
    """The file cannot be imported. The message is for its author."""


def split_front_matter(text: str) -> tuple[Table, str]:
    """Return the front matter, and the text after its last line. Raises `InvalidFile`."""
    if text.startswith("{"):
        return split_json_front_matter(text)
    first, _, rest = text.partition("\n")
    fence = first.rstrip()
    if fence not in FENCES:
        raise InvalidFile(
            "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."
        )
    end = re.search(rf"^{re.escape(fence)}[ \t\r]*(?:\n|\Z)", rest, re.MULTILINE)
    if end is None:
        raise InvalidFile(f"the front matter has no end. Write {fence} on a line of its own after it.")
    return load_front_matter(rest[: end.start()], FENCES[fence]), rest[end.end() :]


def split_json_front_matter(text: str) -> tuple[Table, str]:
    """Return the JSON object at the start of a file, and the text after the line that ends it."""
    try:
        meta, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"begins with {{, but the front matter is not JSON: {shorten(str(error), 200)}") from None
    line_end = LINE_END.match(text, end)
    if line_end is None:
        raise InvalidFile("the text begins on the last line of the front matter. Begin it on a line of its own.")
    return meta, text[line_end.end() :]


def load_front_matter(text: str, language: str) -> Table:
    try:
        meta = tomllib.loads(text.replace("\r\n", "\n")) if language == "TOML" else yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InvalidFile(f"the front matter is not {language}: {shorten(str(error), 200)}") from None
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise InvalidFile("the front matter is not a table of names and values. Write lines such as title: Soup.")
    return meta


def dump_front_matter(meta: Table) -> str:
    """Return front matter in TOML, or in YAML if TOML cannot express a value: null, or a name that is not text."""
    if can_be_toml(meta):
        return f"+++\n{tomli_w.dumps(meta)}+++\n"
    text = dump_yaml(meta, allow_unicode=True)
    if not UNICODE_LINE_ENDS.isdisjoint(text):  # PyYAML writes them unescaped, and reads them as spaces
        text = dump_yaml(meta, allow_unicode=False)
    return f"---\n{text}---\n"


def dump_yaml(meta: Table, *, allow_unicode: bool) -> str:
    text: str = yaml.safe_dump(meta, allow_unicode=allow_unicode, sort_keys=False, width=float("inf"))
    return text


def can_be_toml(value: Any) -> bool:
    match value:
        case None:
            return False
        case dict():
            return all(isinstance(key, str) and can_be_toml(item) for key, item in value.items())
        case list():
            return all(map(can_be_toml, value))
        case _:
            return True


def encode_values(meta: Table) -> Table:
    """Return front matter as JSON values. Raises `InvalidFile` for a value that cannot be stored, with its key."""
    return ValueEncoder().encode_table(meta, 0)


class ValueEncoder:
    """Encodes the values of one file. Aliases of YAML can make few lines to very many values, or to a cycle."""

    def __init__(self) -> None:
        self.number = 0
        self.key = "the front matter"

    def encode_table(self, table: Table, depth: int) -> Table:
        items = []
        for key, value in table.items():
            if depth == 0:
                self.key = shorten(str(key), 60)
            items.append([self.encode_value(key, depth + 1), self.encode_value(value, depth + 1)])
        if all(isinstance(key, str) and not key.startswith("$") for key in table):
            return dict(items)
        return {"$items": items}

    def encode_value(self, value: Any, depth: int) -> Any:
        self.number += 1
        if self.number > MAX_VALUES:
            raise InvalidFile(f"the front matter has more than {MAX_VALUES:,} values. Remove some.")
        if depth > MAX_NESTING:
            raise InvalidFile(f"{self.key} has more than {MAX_NESTING} levels. Remove some.")
        match value:
            case dict():
                return self.encode_table(value, depth)
            case list():
                return [self.encode_value(item, depth + 1) for item in value]
            case str() if not is_storable(value):
                raise InvalidFile(f"{self.key} contains a NUL character or a lone surrogate. Remove it.")
            case _:
                return self.encode_scalar(value)

    def encode_scalar(self, value: Any) -> Any:
        match value:
            case None | bool() | str():
                return value
            case int():
                str(value)  # raises ValueError for thousands of digits, which could not be read again
                return value
            case float():
                return value if DECIMAL.fullmatch(repr(value)) else {"$float": repr(value)}
            case datetime():
                return {"$datetime": value.isoformat()}
            case date():
                return {"$date": value.isoformat()}
            case time():
                return {"$time": value.isoformat()}
            case _:
                kind = type(value).__name__
                raise InvalidFile(f"{self.key} has a value of the type {kind}. Write text, a number, a date or a list.")


def decode_value(value: Any) -> Any:
    """Return the value that `encode_values` has encoded."""
    match value:
        case dict():
            if len(value) == 1:
                ((key, content),) = value.items()
                if key in DECODERS:
                    return DECODERS[key](content)
            return {key: decode_value(item) for key, item in value.items()}
        case list():
            return [decode_value(item) for item in value]
        case _:
            return value
