"""Find and read the Markdown files of a folder. A child process with limits parses their front matter."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePath
from typing import NamedTuple
from unicodedata import normalize

from blog.files import front_matter
from blog.files.front_matter import MarkdownPost
from blog.files.images import ReadImage, find_no_image, read_image_of_folder
from blog.files.syntax import InvalidFile, Table, parse_text
from blog.models import MAX_NAME
from contentapi.conf.timeouts import PARSER_LIMIT, PARSER_WAIT
from contentapi.core.errors import Invalid
from contentapi.core.limited_child import ChildEnded, LimitedChild
from contentapi.core.unicode import is_storable

SUFFIXES = (".md", ".markdown", ".mdx")
RESOURCE_FORKS = "__MACOSX"
LAST = datetime.max.replace(tzinfo=UTC)  # of files without a date
MAX_FILE = 2_000_000  # bytes; the text of a post has at most 200,000 characters
PARSER = [sys.executable, "-m", "blog.files.syntax"]
MAX_MEMORY = 512 * 2**20  # bytes of the address space of the parser
Parse = Callable[[bytes], tuple[Table, str]]


@dataclass(frozen=True)
class MarkdownFile:
    """A file to import. `source` and `path` identify it; `location` is where it is, for messages and `_drafts`.

    `path` is in NFC. `read_image` returns the content of an image that the file names, and raises `UnusableImage`.
    """

    source: str
    path: str
    location: PurePath
    read: Callable[[], bytes]
    read_image: ReadImage = find_no_image


class ReadFile(NamedTuple):
    """A file that was read. `post` is None for a page that is no post, and for a file that is refused for a reason."""

    file: MarkdownFile
    digest: bytes = b""
    post: MarkdownPost | None = None
    reason: str = ""


class LimitedParser(LimitedChild):
    """Parses file after file. It calls `pause`, which may raise an error, for each file and while it waits."""

    def __init__(
        self, pause: Callable[[], None] = lambda: None, *, memory: int = MAX_MEMORY, seconds: float = PARSER_LIMIT
    ) -> None:
        super().__init__(PARSER, memory=memory, seconds=seconds)
        self.pause = pause

    def parse(self, content: bytes) -> tuple[Table, str]:
        """Return what `parse_text` returns for a file. Raises `InvalidFile`, also if the file breaks a limit."""
        self.begin(content)
        self.pause()
        while not self.is_done(PARSER_WAIT):
            self.pause()
        try:
            result = json.loads(self.read_response())
        except ChildEnded:
            raise InvalidFile(
                f"cannot be parsed with {self.memory // 2**20:,} MiB of memory and {self.seconds:g} s of CPU time. "
                "Make the front matter simpler."
            ) from None
        if "reason" in result:
            raise InvalidFile(result["reason"])
        return result["values"], result["body"]


def is_markdown(path: PurePath) -> bool:
    return path.suffix.lower() in SUFFIXES


def is_visible(path: PurePath) -> bool:
    """Return whether a path of a site is that of a file, which is neither hidden nor added by macOS."""
    hidden = [part for part in path.parts if (part.startswith(".") and part != "..") or part == RESOURCE_FORKS]
    return bool(path.parts) and not hidden


def find_markdown_files(paths: Iterable[Path], source: str | None = None) -> list[MarkdownFile]:
    """Return the Markdown files under the paths, in a stable order, without hidden files and folders.

    Without a name, the source is the name of the folder; of a single file, that of the folder that contains it. Raises
    `Invalid` for an unusable name, and for two folders of the same name.
    """
    found = []
    folders: dict[str, Path] = {}
    for path in paths:
        folder = (path.parent if path.is_file() else path).resolve()
        name = require_source_name(folder.name if source is None else source)
        if source is None and folders.setdefault(name, folder) != folder:
            raise Invalid({"source": [f"Two folders have the name {name}. Import each with a --source of its own."]})
        if path.is_file():
            found.append(build_markdown_file(name, path.name, path, path.parent))
            continue
        for file in sorted(path.rglob("*"), key=order_by_numbers):
            relative = file.relative_to(path)
            if is_markdown(relative) and is_visible(relative) and file.is_file():
                found.append(build_markdown_file(name, relative.as_posix(), file, path))
    return found


def order_by_numbers(path: Path) -> tuple[list[list[str | int]], Path]:
    """Return the key of an order with 9.md before 10.md, in which an export was written."""
    names = (re.split("([0-9]+)", name) for name in path.parts)
    return [[int(part) if place % 2 else part for place, part in enumerate(name)] for name in names], path


def build_markdown_file(source: str, path: str, file: Path, root: Path) -> MarkdownFile:
    read_image = partial(read_image_of_folder, root, file)
    return MarkdownFile(source, normalize("NFC", path), file.absolute(), partial(read_file, file), read_image)


def read_file(file: Path) -> bytes:
    """Return the content of a file. Raises `OSError`, and `InvalidFile` for a file over the limit."""
    require_file_size(file.stat().st_size)
    with file.open("rb") as opened:
        content = opened.read(MAX_FILE + 1)
    require_file_size(len(content))  # it may have grown
    return content


def require_file_size(size: int) -> None:
    if size > MAX_FILE:
        raise InvalidFile(f"the file has {size:,} bytes; at most {MAX_FILE:,} are allowed. Split the post.")


def read_files(parser: LimitedParser, files: Sequence[MarkdownFile]) -> Iterator[ReadFile]:
    """Yield the files, those of older posts first: of two that want one slug, the older gets it."""
    posts = (try_to_read(file, parser.parse).post for file in files)
    dates = [(post and post.release_date) or LAST for post in posts]
    for place in sorted(range(len(files)), key=dates.__getitem__):
        yield try_to_read(files[place], parser.parse)


def try_to_read(file: MarkdownFile, parse: Parse) -> ReadFile:
    try:
        return read_markdown(file, parse)
    except (InvalidFile, OSError) as error:
        return ReadFile(file, reason=str(error))


def read_markdown(file: MarkdownFile, parse: Parse = parse_text) -> ReadFile:
    """Read and parse a file: one of this project without limits. Raises `InvalidFile` and `OSError`."""
    if PurePath(file.path).name.startswith("_index."):
        return ReadFile(file)  # the page of a section, for Zola and Hugo
    if not is_storable(file.path):
        raise InvalidFile("the file's name is not UTF-8")
    content = file.read()
    return ReadFile(file, hashlib.sha256(content).digest(), front_matter.build_post(*parse(content), file.location))


def require_source_name(name: str) -> str:
    """Return the name of a source without spaces at its ends. Raises `Invalid`."""
    name = name.strip()
    if not name:
        raise Invalid({"source": ["This must not be empty."]})
    if len(name) > MAX_NAME:
        raise Invalid({"source": [f"At most {MAX_NAME} characters are allowed (got {len(name)})."]})
    if not is_storable(name):
        raise Invalid({"source": ["This is not UTF-8."]})
    return name
