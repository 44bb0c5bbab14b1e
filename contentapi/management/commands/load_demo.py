from typing import Any

from contentapi import demo
from contentapi.core.commands import OperatorCommand


class Command(OperatorCommand):
    help = (
        "Load demo users, authors, posts with images, comments and orders, as `make run` does. Existing content is "
        "kept. The admin gets the password in var/demo_password, and a new API key if the one in var/demo_api_key is "
        "invalid."
    )

    def handle(self, **_: Any) -> None:
        demo.load_demo()
        self.info(
            f"The demo is loaded. {demo.ADMIN} logs in with the password in {demo.PASSWORD_FILE}; "
            f"its API key is in {demo.API_KEY_FILE}."
        )
