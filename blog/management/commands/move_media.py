from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from blog import services
from contentapi.core.commands import OperatorCommand
from contentapi.media.access import build_storage, copy_files, get_storage


class Command(OperatorCommand):
    help = (
        "Copy the files of images from FROM, a folder or a bucket such as s3://bucket, to the place of "
        "CONTENTAPI_MEDIA. What is there already is left out, so an interrupted run can be repeated. Nothing is "
        "deleted at FROM. The worker then renders the posts with images again, with the addresses of "
        "CONTENTAPI_MEDIA_URL. Prints the number of files that were copied."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("place", metavar="FROM", help="where the files are now: a folder, or s3://…")

    def handle(self, *, place: str, **_: Any) -> None:
        copied = size = 0
        try:
            files = copy_files(build_storage(place), get_storage())
            for file in tqdm(files, desc="Copying", unit="file", disable=None, leave=False):
                if file is not None:
                    copied, size = copied + 1, size + file.size
        except OSError as error:
            raise CommandError(f"{error} {copied} files were copied. Run the command again.") from None
        services.images.render_posts_with_old_addresses()
        self.stdout.write(str(copied))
        self.info(f"Files copied: {copied} ({size:,} bytes).")
