from typing import Any

from blog import services
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Publish every scheduled post that is due, and print the id of each. Run it from cron as often as you like; "
        "concurrent runs never publish a post twice."
    )

    def handle(self, **_: Any) -> None:
        number = 0
        for post in services.publish_due_posts(actor=OPERATOR):
            self.stdout.write(str(post.pk))
            number += 1
        self.info(f"Posts published: {number}.")
