"""Markdown files with front matter, for the tests of the import."""

from pathlib import Path, PurePath

from blog.files import front_matter, importing, reading
from blog.files.front_matter import MarkdownPost
from blog.files.importing import ImportOutcome
from blog.files.reading import MarkdownFile
from blog.files.syntax import parse_text
from contentapi.core.identity import OPERATOR


def build_file(lines: str = "", body: str = "Boil.\n", title: str = "Soup") -> str:
    return f'+++\ntitle = "{title}"\ndate = 2015-05-15\n{lines}\n+++\n{body}'


def import_text(
    folder: Path, text: str, name: str = "soup.md", *, status: str = "published", dry_run: bool = False
) -> ImportOutcome:
    """Write the file and import it."""
    file = folder / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text, newline="")
    return importing.import_file(actor=OPERATOR, file=build_file_at(file, name), status=status, dry_run=dry_run)


def parse_post(content: bytes, path: PurePath) -> MarkdownPost | None:
    return front_matter.build_post(*parse_text(content), path)


def build_file_at(file: Path, path: str, source: str = "site") -> MarkdownFile:
    return reading.build_markdown_file(source, path, file, file.parent)
