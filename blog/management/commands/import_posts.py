from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from blog.files import importing, reading
from blog.files.front_matter import OWN_KEYS
from blog.files.importing import FileReport, ImportOutcome
from blog.files.keys import FOREIGN_KEYS, HIDING_KEYS, SHOWING_KEYS
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR

MEANINGFUL_KEYS = sorted({*OWN_KEYS, *FOREIGN_KEYS} - {*HIDING_KEYS, *SHOWING_KEYS}, key=str.lower)
SUFFIXES = ", ".join(reading.SUFFIXES)

IMPORTER = OPERATOR.through("import")


class Command(OperatorCommand):
    help = (
        f"Import posts from Markdown files ({SUFFIXES}) with TOML (+++), YAML (---) or JSON front matter, as Zola, "
        "Hugo, Jekyll and others use them. These keys have a meaning, in any case, with or without hyphens: "
        f"{', '.join(MEANINGFUL_KEYS)}. One of {', '.join(HIDING_KEYS)} that is not off, one of "
        f"{', '.join(SHOWING_KEYS)} that is off, an unknown status, and a folder _drafts or drafts make a draft; a "
        "date in the future makes a scheduled post. The date may also be in the page's address or the file's name, the "
        "slug in the file's name. All other front matter is stored with "
        "the post's source; the admin site shows it, and export_posts writes it again. The source's name and the path "
        "under PATH identify a file: importing it again updates its post if the file has changed. The first author "
        "becomes the post's author. An invalid file is reported and skipped; the exit status is then 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a folder, or a file")
        parser.add_argument(
            "--source",
            metavar="NAME",
            help="the name of the site that the files belong to (default: the name of the folder; of a file, the name "
            "of the folder that contains it); files of two sources do not replace each other's posts",
        )
        parser.add_argument(
            "--status",
            choices=[state.value for state in importing.STATES],
            default=importing.DEFAULT_STATE.value,
            help="the status of new posts (default: %(default)s); a draft stays a draft, and a status in a file "
            "overrides it",
        )
        parser.add_argument("--dry-run", action="store_true", help="report the changes without making them")
        parser.add_argument("--silent", action="store_true", help="announce no events")

    def handle(
        self, *, paths: list[Path], source: str | None, status: str, dry_run: bool, silent: bool, **_: Any
    ) -> None:
        for path in paths:
            if not path.exists():
                raise CommandError(f"There is no {path}.")
        files = reading.find_markdown_files(paths, source)
        if not files:
            raise CommandError(f"There are no Markdown files ({SUFFIXES}) under the given paths.")
        began, counts = monotonic(), Counter[str]()
        reports = importing.import_files(actor=IMPORTER, files=files, status=status, dry_run=dry_run, silent=silent)
        for report in tqdm(reports, total=len(files), desc="Importing", unit="file", disable=None, leave=False):
            counts[report.outcome] += 1
            self.show_remarks(report)
        if not dry_run:
            importing.record_import(IMPORTER, counts)
        self.summarise(counts, len(files), monotonic() - began, dry_run=dry_run)
        if refused := counts[ImportOutcome.REFUSED]:
            raise CommandError(f"{refused} of {len(files)} files could not be imported; each is named above.")

    def show_remarks(self, report: FileReport) -> None:
        """Show why a file was refused, what was guessed, and which images cannot be used."""
        with tqdm.external_write_mode():
            for remark in filter(None, (report.reason, *report.notes)):
                self.info(f"{report.file.location}: {remark}")

    def summarise(self, counts: Counter[str], total: int, seconds: float, *, dry_run: bool) -> None:
        parts = ", ".join(f"{counts[kind]} {kind}" for kind in ImportOutcome)
        mode = " Nothing was changed: this was a dry run." if dry_run else ""
        self.info(f"{total} files in {seconds:.1f} s: {parts}.{mode}")
