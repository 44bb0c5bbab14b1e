"""A browser that writes posts in the admin of a running server."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Locator, Page

from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import wait_until
from tests.deployment.template import Template
from tests.e2e.chromium import launch_chromium
from tests.e2e.desk_pages import log_in

EXACT = "\n\n  Two spaces at the end  \n\tA tab\n\n\nThe end \n"
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('kept-text:')).length"


class Desk:
    """A running server, and a browser that opens its admin."""

    def __init__(self, checkout: Checkout, run: Run, browser: Browser) -> None:
        self.checkout, self.run, self.browser = checkout, run, browser

    def get_address(self, path: str) -> str:
        return f"http://localhost:{self.run.port}{path}"

    def open(self, path: str = "/admin/blog/post/add/", **options: Any) -> Page:
        """Return a page at a path, in a new browser context in which an admin is logged in."""
        page = self.browser.new_context(**options).new_page()
        page.set_default_timeout(60_000)
        log_in(page, self.run, self.checkout)
        page.goto(self.get_address(path))
        return page

    def execute(self, code: str) -> str:
        done = self.checkout.manage("shell", "--verbosity", "0", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read_body(self, title: str) -> str:
        """Return the stored text of a post."""
        code = "import json; from blog.models import Post; "
        found = self.execute(f"{code} print(json.dumps(Post.objects.get(title={title!r}).body))")
        body: str = json.loads(found)
        return body

    def wait_for_body(self, title: str, body: str) -> None:
        """Wait until a post with a title has this text."""
        code = f"from blog.models import Post; print(Post.objects.filter(title={title!r}, body={body!r}).count())"
        wait_until(lambda: self.execute(code).strip() == "1", f"“{title}” with its text")


@contextmanager
def run_desk(folder: Path, template: Template) -> Iterator[Desk]:
    """Run a server from a checkout in a new folder, and a browser. The admin has an author profile."""
    checkout = Checkout(folder, template)
    try:
        run = checkout.run().wait_until_ready()
        admin = "from users.models import User; from blog.models import Author; "
        made = "Author.objects.get_or_create(user=User.objects.get(email='admin@example.com'), name='Ada Admin')"
        with launch_chromium() as browser:
            desk = Desk(checkout, run, browser)
            desk.execute(f"{admin} {made}")
            yield desk
        run.interrupt()
    finally:
        checkout.kill_everything()


def write(page: Page, title: str, body: str) -> None:
    page.locator("#id_title").fill(title)
    page.locator("#id_body").fill(body)


def set_text(page: Page, body: str) -> None:
    """Set the body by a script. Chromium's time to insert typed lines grows with the square of their number."""
    page.locator("#id_body").evaluate(
        "(field, body) => { field.value = body; field.dispatchEvent(new Event('input', { bubbles: true })); }", body
    )


def get_tags(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Tags")


def record_dialogs(page: Page) -> list[str]:
    """Accept the dialogs of a page. Return the list of their types, which grows."""
    types: list[str] = []

    def accept(dialog: Dialog) -> None:
        types.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    return types


def press_save(page: Page) -> None:
    page.locator("#submit-row [name=_save]").click()


def save(page: Page) -> None:
    press_save(page)
    page.wait_for_url("**/admin/blog/post/")
