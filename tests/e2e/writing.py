"""A browser that writes posts in the admin of a running server."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Locator, Page

from contentapi.demo import ADMIN
from tests.deployment.checkout import Checkout, Run
from tests.deployment.processes import PATIENCE, wait_until
from tests.deployment.template import Template

EXACT = "\n\n  Two spaces at the end  \n\tA tab\n\n\nThe end \n"
# Prints the key of a new session
LOG_IN = """
from django.test import Client
from users.models import User
client = Client()
client.force_login(User.objects.get(email="{}"))
print(client.cookies["sessionid"].value, end="")
"""
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('kept-text:')).length"


# Executes each line of its standard input, and prints the output of it: a process for each would take seconds to start.
SHELL = """
import contextlib, io, json, sys
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(json.loads(line), {})
    print(json.dumps(printed.getvalue()), flush=True)
"""


class Desk:
    """A running server, the folder of its mails, and a browser that opens its admin."""

    browser: Browser

    def __init__(self, checkout: Checkout, run: Run, mails: Path) -> None:
        self.checkout, self.run, self.mails = checkout, run, mails
        self.shell = subprocess.Popen(
            [checkout.folder / ".venv/bin/python", "manage.py", "shell", "--verbosity", "0", "-c", SHELL],
            cwd=checkout.folder,
            env=checkout.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def get_address(self, path: str) -> str:
        return f"http://localhost:{self.run.port}{path}"

    def open(self, path: str = "/admin/blog/post/add/", *, email: str = ADMIN, **options: Any) -> Page:
        """Return a page at a path, in a new browser context in which a person is logged in."""
        address = self.get_address("")
        context = self.browser.new_context(base_url=address, **options)
        context.add_cookies([{"name": "sessionid", "value": self.execute(LOG_IN.format(email)), "url": address}])
        page = context.new_page()
        page.goto(path)
        return page

    def make_user(self, name: str, *, role: str = "editor", password: str | None = None) -> str:
        """Create a user whom `open` can log in. Return the email."""
        email = f"{name.lower()}@example.com"
        values = f"email={email!r}, name={name!r}, role=Role({role!r}), password={password!r}"
        modules = "from users import services; from contentapi.core.identity import OPERATOR, Role; "
        self.execute(f"{modules}services.create_user(actor=OPERATOR, {values})")
        return email

    def make_draft(self) -> str:
        """Create a draft of the admin. Return its id."""
        services = "from blog import services; from contentapi.core.identity import OPERATOR; "
        author = "from blog.models import Author; author_id = str(Author.objects.get(name='Ada Admin').pk); "
        created = "services.create_post(actor=OPERATOR, author_id=author_id, title='Of one test', body='Text')"
        return self.execute(f"{services}{author}print({created}.pk)").strip()

    def execute(self, code: str) -> str:
        """Execute code of Python beside the server. Return what it printed."""
        assert self.shell.stdin
        assert self.shell.stdout
        self.shell.stdin.write(f"{json.dumps(code)}\n")
        self.shell.stdin.flush()
        printed = self.shell.stdout.readline()
        assert printed, "The code has failed, with the traceback above."
        return str(json.loads(printed))

    def read_body(self, title: str) -> str:
        """Return the stored text of a post."""
        return self.execute(f"from blog.models import Post; print(Post.objects.get(title={title!r}).body, end='')")

    def wait_for_body(self, title: str, body: str) -> None:
        """Wait until a post with a title has this text."""
        code = f"from blog.models import Post; print(Post.objects.filter(title={title!r}, body={body!r}).count())"
        wait_until(lambda: self.execute(code).strip() == "1", f"“{title}” with its text")


@contextmanager
def run_desk(folder: Path, template: Template) -> Iterator[Desk]:
    """Run a server from a checkout in a new folder. The admin has an author profile."""
    checkout = Checkout(folder, template)
    try:
        mails = folder.parent / "mails"
        variables = {"CONTENTAPI_RATE_ANONYMOUS": "100000/minute", "EMAIL_URL": f"file://{mails}"}
        desk = Desk(checkout, checkout.run(**variables).wait_until_ready(), mails)
        admin = "from users.models import User; from blog.models import Author; "
        made = "Author.objects.get_or_create(user=User.objects.get(email='admin@example.com'), name='Ada Admin')"
        desk.execute(f"{admin} {made}")
        yield desk
        desk.shell.communicate(timeout=PATIENCE)
        desk.run.interrupt()
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


def refuse_autosaves(page: Page) -> None:
    """Let no text of a page be saved by itself. On a busy machine, a test may last until the timer of the next save."""
    page.route("**/autosave/", lambda route: route.abort())


def wait_for_offers(page: Page) -> None:
    """Wait until the scripts of a form have decided which kept texts they offer: after they have read the locks."""
    page.locator(".writing-notices").wait_for(state="attached")
    page.evaluate("navigator.locks.query().then(() => new Promise((done) => setTimeout(done)))")
