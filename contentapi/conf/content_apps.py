"""The apps of the project: the packages beside `contentapi` whose module `api` declares what they add.

What the start needs of own types is found without a parser: `contentapi.types` checks the whole declaration.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SCHEMA_DIR = Path(__file__).resolve().parents[2] / "schema"
OWN_TYPE = re.compile(r"^type (\w+)[^{#\"]*@type\s*\(([^)]*)\)", re.MULTILINE)
WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
FIRST_WORD = re.compile(r"^[A-Z]+(?![a-z])|^[A-Z]")
ARGUMENT = re.compile(r'(\w+)\s*:\s*"?(\w+)')

READERS = ("public", "member", "staff")  # from all to few
WRITERS = ("author", "editor", "admin")
# What the scopes of the server begin with
RESOURCES = ("posts", "comments", "images", "authors", "events", "webhooks", "orders", "users")


class OwnAccess(NamedTuple):
    """The access to the rows of an own type, such as `read: member, write: author`. `path` begins their URLs."""

    path: str
    read: str
    write: str


def find_content_apps(folder: Path) -> list[str]:
    """Return the names of the apps, in alphabetical order. Packages of others can have a module `api` too."""
    return sorted(path.parent.name for path in folder.glob("*/api.py") if b"\nAPI = App(" in path.read_bytes())


def find_own_access(folder: Path) -> Iterator[OwnAccess]:
    """Yield the access to each type with `@type` in the files of a folder, but for those that the check refuses."""
    for path in sorted(folder.glob("*.graphql")):
        for name, arguments in OWN_TYPE.findall(path.read_text("utf-8")):
            given = dict(ARGUMENT.findall(arguments))
            plural = separate_words(given.get("plural", f"{lower_first_word(name)}s"), "-")
            found = OwnAccess(plural, given.get("read", "public"), given.get("write", "editor"))
            if found.read in READERS and found.write in WRITERS and plural not in RESOURCES:
                yield found


def separate_words(name: str, separator: str) -> str:
    """Return a name of the API as words: `menu cards` for `menuCards`, and `faq entry` for `FAQEntry`."""
    return WORDS.sub(separator, name).lower()


def lower_first_word(name: str) -> str:
    """Return the name of a type as that of a field: `menuCard` for `MenuCard`, and `faqEntry` for `FAQEntry`."""
    return FIRST_WORD.sub(lambda found: found[0].lower(), name)
