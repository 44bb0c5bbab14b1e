from typing import Any

from blog import services
from contentapi.core.commands import OperatorCommand
from contentapi.core.identity import OPERATOR


class Command(OperatorCommand):
    help = (
        "Publish every scheduled post and working copy that is due, and print the id of each post. Run it from cron as "
        "often as you like; concurrent runs never publish a post twice."
    )

    def handle(self, **_: Any) -> None:
        published = 0
        for due in services.publish_due(actor=OPERATOR):
            if due.problem:
                self.info(f"The working copy of post {due.post.pk} was not published. {due.problem}")
            else:
                self.stdout.write(str(due.post.pk))
                published += 1
        self.info(f"Posts published: {published}.")
