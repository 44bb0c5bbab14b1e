"""Export all posts as Markdown files, which `import_posts` reads."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from tqdm import tqdm

from blog import exporting
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Export all posts as Markdown files with TOML front matter into a folder that is new or empty: title, date, "
        "updated, authors, tags, status and publishAt, named by the post's id. `import_posts` makes equal posts of "
        "them again; comments, and what is known of an author besides the name, are not in them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="made if need be")

    def handle(self, *_: Any, directory: Path, **__: Any) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            if any(directory.iterdir()):
                raise CommandError(f"{directory} is not empty. Name a folder that is, or a new one.")
            number = self.export(directory)
        except OSError as error:
            raise CommandError(f"{error.filename or directory}: {error.strerror}.") from None
        self.info(f"Posts exported: {number}.")

    def export(self, directory: Path) -> int:
        with transaction.atomic():  # one statement's view of the posts, through a cursor that needs a transaction
            total = exporting.list_posts_to_export(OPERATOR).count()
            files = exporting.export_posts(actor=OPERATOR, directory=directory)
            return sum(1 for _ in tqdm(files, total=total, desc="Exporting", unit="post", disable=None, leave=False))
