from typing import Any

from django.core.management.base import CommandError, CommandParser

from blog import services
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Compare the images with their files, while servers run. Prints each file that is missing, and each file that "
        "no image names and that is older than an hour, or than a day below uploads/ and deleted/. Exits with 1 if "
        "there is one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--repair",
            action="store_true",
            help="make missing files again from the best that is left, reject images of which nothing is left, and "
            "delete files that no image names",
        )

    def handle(self, *, repair: bool, **_: Any) -> None:
        found = 0
        for finding in services.image_repairs.check_media(actor=OPERATOR, repair=repair):
            kind = "no image names" if finding.image is None else f"missing of image {finding.image}:"
            self.stdout.write(f"{kind} {finding.name}" + (f" ({finding.repair})" if finding.repair else ""))
            found += 1
        if found and not repair:
            raise CommandError(f"Files that are missing or left over: {found}. check_media --repair repairs them.")
        self.info(f"Files repaired: {found}." if found else "Each image has its files, and each file has an image.")
