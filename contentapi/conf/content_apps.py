"""The apps of the project: the packages beside `contentapi` whose module `api` declares what they add.

What the start needs of own types is found without a parser: `contentapi.types` checks the whole declaration.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SCHEMA_DIR = Path(__file__).resolve().parents[2] / "schema"
OWN_TYPE = re.compile(r"^type (\w+)[^{#\"]*@type\s*\(([^)]*)\)", re.MULTILINE)
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
            plural = re.sub(r"(?<!^)(?=[A-Z])", "-", given.get("plural", f"{name}s")).lower()
            found = OwnAccess(plural, given.get("read", "public"), given.get("write", "editor"))
            if found.read in READERS and found.write in WRITERS and plural not in RESOURCES:
                yield found
