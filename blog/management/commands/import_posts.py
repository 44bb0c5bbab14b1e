from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from blog import importing
from blog.front_matter import InvalidFile
from blog.importing import ImportOutcome, SourceFile
from blog.models import PostStatus
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR

BAD = "bad"

IMPORTER = OPERATOR.through("import")


class Command(OperatorCommand):
    help = (
        "Import posts from Markdown files (.md, .markdown) with TOML (+++) or YAML (---) front matter, as Zola, Hugo "
        "and Jekyll use them. The command reads title, authors, date (in the front matter, the page's address or the "
        "file's name), updated, tags and draft. The path under PATH identifies a file: importing it again updates its "
        "post if the file has changed. The first author becomes the post's author; all names are stored with the "
        "post's source, which the admin site shows. An invalid file is reported and skipped; the exit status is then 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a folder, or a file")
        states = [status.value for status in PostStatus if status != PostStatus.SCHEDULED]
        parser.add_argument(
            "--status",
            choices=states,
            default=PostStatus.PUBLISHED.value,
            help="the status of new posts (default: %(default)s); `draft = true` in a file overrides it",
        )
        parser.add_argument("--dry-run", action="store_true", help="report the changes without making them")

    def handle(self, *, paths: list[Path], status: str, dry_run: bool, **_: Any) -> None:
        for path in paths:
            if not path.exists():
                raise CommandError(f"There is no {path}.")
        files = importing.find_markdown_files(paths)
        if not files:
            raise CommandError("There are no Markdown files (.md, .markdown) under the given paths.")
        began, counts, seen = monotonic(), Counter[str](), set[str]()
        for source in tqdm(files, desc="Importing", unit="file", disable=None, leave=False):
            outcome = self.import_one(source, seen, status=status, dry_run=dry_run)
            counts[outcome] += 1
            if outcome != ImportOutcome.NOT_A_POST:
                seen.add(source.source_path)
        self.summarise(counts, len(files), monotonic() - began, dry_run=dry_run)
        if counts[BAD]:
            raise CommandError(f"{counts[BAD]} of {len(files)} files could not be imported; each is named above.")

    def import_one(self, source: SourceFile, seen: set[str], *, status: str, dry_run: bool) -> str:
        if source.source_path in seen:  # it would overwrite the post of the other file
            return self.report(source, f"another file of this import has the path {source.source_path} too")
        try:
            return importing.import_file(actor=IMPORTER, source=source, status=status, dry_run=dry_run)
        except (InvalidFile, OSError) as error:
            return self.report(source, error)

    def report(self, source: SourceFile, problem: object) -> str:
        with tqdm.external_write_mode():
            self.info(f"{source.file}: {problem}")
        return BAD

    def summarise(self, counts: Counter[str], total: int, seconds: float, *, dry_run: bool) -> None:
        parts = ", ".join(f"{counts[kind]} {kind}" for kind in (*ImportOutcome, BAD))
        mode = " Nothing was changed: this was a dry run." if dry_run else ""
        self.info(f"{total} files in {seconds:.1f} s: {parts}.{mode}")
