from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from contentapi.core.commands import OperatorCommand
from contentapi.db.backups.dump import locate_media, write_backup
from contentapi.media.backups import write_files


class Command(OperatorCommand):
    help = (
        "Write a backup of the database to FILE with pg_dump, while servers run, and of the files of images to "
        "FILE.media.tar, unless they are in a bucket. Prints the number of rows of each table, which FILE.json has "
        "too. The command `restore` reads these files. Keys under var/ and environment variables are not in the "
        "database: back them up separately."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="FILE", type=Path, help="a new file; FILE.json is written beside it")
        parser.add_argument("--force", action="store_true", help="replace FILE when the new backup is complete")

    def handle(self, *, path: Path, force: bool, **_: Any) -> None:
        path = path.absolute()
        contents = write_backup(path, replace=force, report=self.info, write_files=write_files)
        self.stdout.write(format_rows(contents.tables))
        self.info(f"The backup is complete: {path} ({path.stat().st_size:,} bytes).")
        self.report_media(locate_media(path), contents.media)

    def report_media(self, path: Path, media: dict[str, Any]) -> None:
        if "files" in media:
            self.info(f"It has {media['files']:,} files of images: {path} ({media['bytes']:,} bytes).")
        if "place" in media:
            self.info(f"Note: the files of images are in {media['place']}. Back them up there.")


def format_rows(tables: dict[str, int]) -> str:
    """Return a line for each table: the number of rows, the name."""
    return "\n".join(f"{rows:>10}  {name}" for name, rows in tables.items())
