"""The syntax of front matter: TOML between `+++` lines, YAML between `---` lines, or a JSON object.

The values of all three are stored as JSON: `encode_values` keeps the types that JSON does not have. This module is also
the child process of `blog.files.reading`: `python -m blog.files.syntax MEMORY SECONDS`. So it imports neither
Django nor the settings, which take four times as long as the rest of the start.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from textwrap import shorten
from typing import Any

import tomli_w
import yaml

from blog.files.keys import NULL, TEXT, keep_words
from contentapi.core.limited_child import respond_within_limits
from contentapi.core.unicode import is_storable

MAX_FRONT_MATTER = 64_000  # bytes
MAX_NESTING = 50
FENCES = {"+++": "TOML", "---": "YAML"}
LINE_END = r"[ \t]*(?:\r\n?|\n|\Z)"
BEGIN = re.compile(rf"\s*(\+\+\+|---){LINE_END}")
# The line that ends the front matter: in YAML also three dots, as in Jekyll and pandoc.
ENDS = {
    fence: re.compile(rf"(?<![^\r\n])(?:{end}){LINE_END}") for fence, end in (("+++", r"\+{3}"), ("---", r"-{3}|\.{3}"))
}
MERGE_KEY = "tag:yaml.org,2002:merge"
PLAIN_TAGS: dict[type, str] = {yaml.MappingNode: "tag:yaml.org,2002:map", yaml.SequenceNode: "tag:yaml.org,2002:seq"}
NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
OTHERS = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", MERGE_KEY}
KNOWN_TAGS = {TEXT, NULL, *NUMBERS, *OTHERS, *PLAIN_TAGS.values()}
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
    """The file cannot be imported. The message is for its author, and can be stored."""

    def __init__(self, message: str) -> None:
        super().__init__(message.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}"))


@contextmanager
def refuse_errors() -> Iterator[None]:
    """Raise `InvalidFile` for any error: PyYAML and numbers of 5,000 digits raise many types."""
    try:
        yield
    except (InvalidFile, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001
        raise InvalidFile(f"cannot be parsed: {shorten(str(error), 200)}") from None


@refuse_errors()
def parse_text(content: bytes) -> tuple[Table, str]:
    """Return the front matter of a file as JSON values, and the text after it. Raises `InvalidFile`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"not UTF-8 (byte {error.start}). Save the file in UTF-8.") from None
    if "\0" in text:
        raise InvalidFile("contains a NUL character. Remove it.")
    meta, body = split_front_matter(text)
    return encode_values(meta), body


def split_front_matter(text: str) -> tuple[Table, str]:
    """Return the front matter, and the text after its last line. Raises `InvalidFile`."""
    if text.lstrip().startswith("{"):
        return split_json_front_matter(text.lstrip())
    begin = BEGIN.match(text)
    if begin is None:
        raise InvalidFile(
            "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."
        )
    fence = begin[1]
    end = ENDS[fence].search(text, begin.end())
    if end is None:
        raise InvalidFile(f"the front matter has no end. Write {fence} on a line of its own after it.")
    return load_front_matter(text[begin.end() : end.start()], FENCES[fence]), text[end.end() :]


def split_json_front_matter(text: str) -> tuple[Table, str]:
    """Return the JSON object at the start of a file, and the text after the line that ends it."""
    try:
        meta, end = json.JSONDecoder().raw_decode(text[:MAX_FRONT_MATTER])
    except (ValueError, RecursionError) as error:
        size = f" of at most {MAX_FRONT_MATTER:,} bytes" if len(text) > MAX_FRONT_MATTER else ""
        reason = shorten(str(error), 200)
        raise InvalidFile(f"begins with {{, but the front matter is not JSON{size}: {reason}") from None
    require_small_front_matter(text[:end])
    line_end = re.compile(LINE_END).match(text, end)
    if line_end is None:
        raise InvalidFile("the text begins on the last line of the front matter. Begin it on a line of its own.")
    return meta, text[line_end.end() :]


def load_front_matter(text: str, language: str) -> Table:
    require_small_front_matter(text)
    try:
        meta = tomllib.loads(re.sub("\r\n?", "\n", text)) if language == "TOML" else load_yaml(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InvalidFile(f"the front matter is not {language}: {shorten(str(error), 200)}") from None
    if meta is None:
        return {}
    if not isinstance(meta, dict):
        raise InvalidFile("the front matter is not a table of names and values. Write lines such as title: Soup.")
    return meta


def require_small_front_matter(text: str) -> None:
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_FRONT_MATTER:
        raise InvalidFile(f"the front matter has {size:,} bytes; at most {MAX_FRONT_MATTER:,} are allowed. Shorten it.")


def load_yaml(text: str) -> Any:
    """Return the value of YAML."""
    loader = FrontMatterLoader(text)
    root = loader.get_single_node()
    if isinstance(root, yaml.MappingNode):
        keep_words(root)
    return None if root is None else loader.construct_document(root)


class FrontMatterLoader(yaml.SafeLoader):
    """Returns the text of a value that YAML cannot read, such as 2015-02-30, and of a number of base 60, such as 42:17.

    A value with a tag of another program, such as `!ruby/hash:Params`, is what it is without the tag.
    PyYAML takes minutes for some numbers of base 60 and some merge keys, which are refused.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - of PyYAML
        is_text = isinstance(node, yaml.ScalarNode)
        if node.tag not in KNOWN_TAGS:
            node.tag = TEXT if is_text else PLAIN_TAGS[type(node)]
        if node.tag in NUMBERS and (":" in node.value or not is_text):
            node.tag = TEXT
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, OverflowError, yaml.YAMLError):
            if not is_text:
                raise
            self.recursive_objects.pop(node, None)
            return node.value

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == MERGE_KEY for key, _ in node.value):
            raise InvalidFile("the front matter has a merge key (<<). Write out the keys.")
        super().flatten_mapping(node)


def dump_front_matter(meta: Table) -> str:
    """Return front matter in TOML, or in YAML if TOML cannot express a value: null, or a name that is not text."""
    with suppress(TypeError):
        return f"+++\n{tomli_w.dumps(meta)}+++\n"
    text = ""
    for allow_unicode in (True, False):
        text = yaml.safe_dump(meta, allow_unicode=allow_unicode, sort_keys=False, width=float("inf"))
        if UNICODE_LINE_ENDS.isdisjoint(text):  # PyYAML writes them unescaped, and reads them as spaces
            break
    return f"---\n{text}---\n"


def encode_values(meta: Table) -> Table:
    """Return front matter as JSON values. Raises `InvalidFile` for a value that cannot be stored, with its key."""
    encoder = ValueEncoder()
    items = []
    for key, value in meta.items():
        try:
            items.append([encoder.encode(key, 1), encoder.encode(value, 1)])
        except InvalidFile as error:
            raise InvalidFile(f"{shorten(str(key), 60)} {error}") from None
    return build_table(items)


def build_table(items: list[list[Any]]) -> Table:
    if all(isinstance(key, str) and not key.startswith("$") for key, _ in items):
        return dict(items)
    return {"$items": items}


class ValueEncoder:
    """Encodes the values of one file. Aliases of YAML can make few lines to very many values, or to a cycle."""

    def __init__(self) -> None:
        self.size = 0

    def encode(self, value: Any, depth: int) -> Any:
        self.size += len(value) or 1 if isinstance(value, str) else 1
        if self.size > MAX_FRONT_MATTER:
            raise InvalidFile(f"makes more than {MAX_FRONT_MATTER:,} values and characters. Remove some.")
        if depth > MAX_NESTING:
            raise InvalidFile(f"has more than {MAX_NESTING} levels. Remove some.")
        match value:
            case dict():
                return build_table([[self.encode(key, depth + 1), self.encode(value[key], depth + 1)] for key in value])
            case list():
                return [self.encode(item, depth + 1) for item in value]
            case _:
                return encode_scalar(value)


def encode_scalar(value: Any) -> Any:
    match value:
        case str() if not is_storable(value):
            raise InvalidFile("contains a NUL character or a lone surrogate. Remove it.")
        case None | bool() | str():
            return value
        case int():
            str(value)  # raises ValueError for thousands of digits, which could not be read again
            return value
        case float():
            return value if DECIMAL.fullmatch(repr(value)) else {"$float": repr(value)}
        case date() | time():  # also a datetime
            return {f"${type(value).__name__}": value.isoformat()}
        case _:
            kind = type(value).__name__
            raise InvalidFile(f"has a value of the type {kind}. Write text, a number, a date or a list.")


def decode_value(value: Any) -> Any:
    """Return the value that `encode_values` has encoded."""
    match value:
        case dict():
            name = next(iter(value), "")
            if name in DECODERS:
                return DECODERS[name](value[name])
            return {key: decode_value(item) for key, item in value.items()}
        case list():
            return [decode_value(item) for item in value]
        case _:
            return value


def build_response(content: bytes) -> bytes:
    """Return what `parse_text` returns for a file, or the reason why it refuses the file, as JSON."""
    try:
        values, body = parse_text(content)
    except InvalidFile as error:
        return json.dumps({"reason": str(error)}).encode()
    except MemoryError:
        sys.exit("A file needs more memory than the limit.")
    return json.dumps({"values": values, "body": body}).encode()


if __name__ == "__main__":
    respond_within_limits(build_response)
