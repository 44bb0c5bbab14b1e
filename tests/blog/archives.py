"""Zip files of Markdown files, for the tests of the import."""

import io
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from blog.files import importing
from blog.files.archives import Archive
from blog.files.importing import FileReport
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file

SITE: dict[str, str | bytes] = {
    "posts/a.md": build_file(title="A"),
    "posts/_index.md": build_file(title="Section"),
    "posts/bad.md": "# Soup",
    "_drafts/b.mdx": build_file(title="B"),
    "posts/image.png": b"\x89PNG",
    "posts/page.html": "<p>",
    "__MACOSX/posts/._a.md": b"\x00\x05",
    ".git/a.md": build_file(title="Hidden"),
    "posts/.hidden.md": build_file(title="Hidden"),
}
BAD = "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."


def build_archive(files: dict[str, str | bytes], compression: int = ZIP_DEFLATED) -> io.BytesIO:
    content = io.BytesIO()
    with ZipFile(content, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(ZipInfo(name), text, compression)
    return content


class ArchiveReport(NamedTuple):
    source: str
    files: list[FileReport]
    ignored: int


def import_content(content: io.BytesIO, *, dry_run: bool = False, source: str | None = None) -> ArchiveReport:
    found = Archive(content, name="site.zip", source=source)
    reports = list(importing.import_files(actor=OPERATOR, files=found.files, dry_run=dry_run))
    return ArchiveReport(found.source, reports, found.ignored)


def read_outcomes(report: ArchiveReport) -> dict[str, str]:
    return {item.file.path: item.reason or item.outcome for item in report.files}
