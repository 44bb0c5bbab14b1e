"""The words in front matter: the title, tags and authors of a post."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import PurePath
from typing import Any

from blog.files.dates import format_for_message, split_file_name
from blog.files.keys import AUTHOR_KEYS, CATEGORY_KEYS, NESTED_TABLES, TAG_KEYS
from blog.files.syntax import InvalidFile, Table
from blog.models import MAX_BODY
from blog.rendering import extract_text, render_markdown

# Of an author with several values: the names that readers see, and then others
AUTHOR_NAME_KEYS = (
    *("name", "display_name", "displayname", "full_name", "fullname", "nickname"),
    *("key", "login", "username", "handle", "id", "slug"),
)
TAG_NAME_KEYS = ("label", "name", "title")  # of tags that are tables, in Docusaurus
MAIL = re.compile(r"\s*[<(]?[^\s<>()@]+@[^\s<>()@]+[>)]?")
HEADING = re.compile(r'<h1\b[^>]*data-sourcepos="(\d+):(\d+)-(\d+):\d+"[^>]*>(.*?)</h1>', re.DOTALL)
LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
Read = Callable[[Any, str], list[str]]


def is_line(value: Any) -> bool:
    return isinstance(value, (str, int, float, date))


def read_line(value: Any, key: str) -> str:
    """Return a value as text, as it is written; an empty text for none. Raises `InvalidFile`."""
    if value is not None and not is_line(value):
        raise InvalidFile(f"{key} is not a text")
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def read_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value is not None else []


def read_tags(meta: Table) -> list[str]:
    """Return the tags and after them the categories, without duplicates."""
    return list(dict.fromkeys([*read_all_words(meta, TAG_KEYS), *read_all_words(meta, CATEGORY_KEYS)]))


def read_all_words(meta: Table, keys: Iterable[str]) -> list[str]:
    """Return the words of all these keys, in the front matter and in Zola's tables."""
    found = [read_words(meta.get(key), key) for key in keys]
    found += [read_if_valid(read_words, table, key) for table in find_nested_tables(meta) for key in keys]
    return [word for words in found for word in words]


def find_nested_tables(meta: Table) -> list[Table]:
    return [meta[key] for key in NESTED_TABLES if isinstance(meta.get(key), dict)]


def read_if_valid(read: Read, table: Table, key: str) -> list[str]:
    """Return what a key of a nested table states. Such a key may also be a theme's, with values of another type."""
    try:
        return read(table.get(key), key)
    except InvalidFile:
        return []


def read_words(value: Any, key: str) -> list[str]:
    """Return tags: a list, or one string as Jekyll has it. The string of `tag` and `category` is one word."""
    if isinstance(value, str):
        value = value.split(",") if "," in value else [value] if key in ("tag", "category") else value.split()
    flat = [each for item in read_list(value) for each in (item if isinstance(item, list) else [item])]  # as in Hexo
    return [text for each in flat if (text := read_word(each, key).strip())]


def read_word(item: Any, key: str) -> str:
    if isinstance(item, dict):
        item = next((item[name] for name in TAG_NAME_KEYS if is_line(item.get(name))), item)
    if item is not None and not is_line(item):
        raise InvalidFile(f'{key} is not a list of words. Write a list such as ["harbour", "history"].')
    return read_line(item, key)


def read_authors(meta: Table) -> tuple[str, ...]:
    for key in AUTHOR_KEYS:
        if names := read_names(meta.get(key), key):
            return tuple(names)
    found = (read_if_valid(read_names, table, key) for table in find_nested_tables(meta) for key in AUTHOR_KEYS)
    return tuple(next(filter(None, found), []))


def read_names(value: Any, key: str) -> list[str]:
    """Return the names of authors: text, tables with a name, or a list of them. Commas separate names in `authors`."""
    if isinstance(value, str) and key == "authors":
        value = value.split(",")
    return [name for person in read_list(value) if person is not None and (name := read_name(person, key))]


def read_name(person: Any, key: str) -> str:
    """Return the name of an author without an address of mail. Raises `InvalidFile`."""
    stated = person
    if isinstance(person, dict):
        values = {str(name).lower(): value for name, value in person.items()}
        stated = next((values[name] for name in AUTHOR_NAME_KEYS if values.get(name)), None)
    if not isinstance(stated, (str, int, float)):
        shown = "" if isinstance(person, dict) else f": {format_for_message(person)}"
        raise InvalidFile(f'{key} has an author without a name{shown}. Write names such as ["Ines Falk", "Jo Berg"].')
    text = read_line(stated, key).strip()
    return text if MAIL.search(text) is None else MAIL.sub("", text).strip(" ()<>") or text.partition("@")[0]


def choose_title(meta: Table, body: str, path: PurePath) -> tuple[str, str, str]:
    """Return the title of a file, its text without the heading that is the title, and where the title comes from."""
    title = read_line(meta.get("title"), "title")
    if title.strip():
        return title, body, ""
    title, rest = take_heading(body) if len(body) <= MAX_BODY else ("", body)
    if title:
        return title, rest, "The title is the first heading."
    name = split_file_name(path)[1]
    words = name.replace("-", " ").replace("_", " ")
    title = name if " " in name else words
    return title.strip() or path.stem, body, "The title is the name of the file."


def take_heading(body: str) -> tuple[str, str]:
    """Return the words of the first heading of level 1, and the text without it. The heading is part of no list."""
    lines = LINES.findall(body)
    for found in HEADING.finditer(render_markdown(body, with_lines=True)):
        first, column, last = (int(found[group]) for group in (1, 2, 3))
        title = extract_text(found[4])
        if title and not lines[first - 1][: column - 1].strip():
            rest = "".join(lines[last:])
            before = "".join(lines[: first - 1])
            return title, before + rest if before.strip() else rest.lstrip("\r\n")
    return "", body
