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
        for post in services.publish_due_posts(actor=OPERATOR):
            self.stdout.write(str(post.pk))
            published += 1
        for post, problem in services.publish_due_copies(actor=OPERATOR):
            if problem:
                self.info(f"The working copy of post {post.pk} was not published. {problem}")
            else:
                self.stdout.write(str(post.pk))
                published += 1
        self.info(f"Posts published: {published}.")
