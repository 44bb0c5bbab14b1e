from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from blog import services
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Make the variants of images that are missing since the list of widths or formats (CONTENTAPI_IMAGE_AVIF) has "
        "changed, while servers run. Those that are no longer made are deleted a day later; other addresses stay. The "
        "worker then renders the posts with images again, as a new CONTENTAPI_MEDIA_URL needs. Prints the number of "
        "rebuilt images. An interrupted run can be repeated: it continues with the images that are left."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--all",
            action="store_true",
            dest="everything",
            help="make all variants of all images, at new addresses. The earlier ones end a day later",
        )

    def handle(self, *, everything: bool, **_: Any) -> None:
        outdated = services.image_repairs.list_outdated_images(actor=OPERATOR, everything=everything)
        problems = 0
        for pk in tqdm(outdated, desc="Rebuilding", unit="image", disable=None, leave=False):
            problem = services.image_repairs.rebuild_image(actor=OPERATOR, pk=pk, everything=everything)
            if problem:
                problems += 1
                self.info(f"Image {pk} stays as it is. {problem}")
        services.images.render_posts_with_old_addresses()
        self.stdout.write(str(len(outdated) - problems))
        if problems:
            raise CommandError(f"Images that stay as they are: {problems}.")
