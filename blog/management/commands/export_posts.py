from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from tqdm import tqdm

from blog.files import exporting
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Export all posts as Markdown files with TOML front matter into a new or empty folder. A file is named by the "
        "post's id. It has title, date, updated, authors, tags, draft, status, publishAt, publishedAt, and all other "
        "keys of the file that the post was imported from. `import_posts` creates equal posts from the files. They do "
        "not contain comments."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="the folder; created if needed")

    def handle(self, *, directory: Path, **_: Any) -> None:
        number = 0
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if any(directory.iterdir()):
                raise CommandError(f"{directory} is not empty. Name an empty or new folder.")
            with transaction.atomic():  # the server-side cursor needs a transaction
                total = exporting.list_posts_to_export(OPERATOR).count()
                files = exporting.export_posts(actor=OPERATOR, directory=directory)
                for _file in tqdm(files, total=total, desc="Exporting", unit="post", disable=None, leave=False):
                    number += 1
        except OSError as error:
            raise CommandError(f"{error.filename or directory}: {error.strerror}.") from None
        self.info(f"Posts exported: {number}.")
