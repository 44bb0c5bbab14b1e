"""Load the demo content. Running it again changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand

from contentapi import demo


class Command(BaseCommand):
    help = "Load demo users, authors, posts, comments and orders, as `make run` does. Existing rows are not changed."

    def handle(self, *_: Any, **__: Any) -> None:
        demo.load()
        demo.ensure_credentials()
        self.stderr.write(
            f"The demo is loaded. {demo.ADMIN} logs in with the password in {demo.PASSWORD_FILE}; "
            f"its API key is in {demo.API_KEY_FILE}.",
            str,
        )
