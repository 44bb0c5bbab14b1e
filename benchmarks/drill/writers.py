"""The writers of the drill of events beside the API: the desk, imports and psql; and the list of all."""

import shutil
import subprocess
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

from benchmarks.drill.api_writers import BODY, PATIENCE, UNAVAILABLE, Api, Graphql, Place, Rest, Scheduler
from benchmarks.drill.ledger import Effect, make_text
from contentapi.db.embedded.programs import PROGRAMS
from tests.e2e.http_client import HttpClient

ADMIN = "admin@example.com"  # of the demo
FILES = 25  # of an import
TRANSACTIONS = 10  # of a call of psql
ABANDONED = 0.3  # share of these that are rolled back
INSERT_POST = """
    INSERT INTO blog_post (title, body, status, author_id, tags, created_at, updated_at, version, published_at)
    SELECT '{text}', 'SQL', 'published', min(id), '{{}}', now(), now(), 1, now() FROM blog_author
    RETURNING 'post.created', id, version, title
"""
UPDATE_POST = "UPDATE blog_post SET title = '{text}' WHERE id = {post} RETURNING 'post.updated', id, version, title"
INSERT_COMMENT = """
    INSERT INTO blog_comment (post_id, author_id, body, created_at)
    SELECT {post}, min(id), '{text}', now() FROM blog_author RETURNING 'comment.created', id, NULL, body
"""


class Desk:
    """A browser in which the admin is logged in. It does not repeat a form."""

    channel = "desk"

    def __init__(self, place: Place) -> None:
        self.place, self.ledger = place, place.ledger
        self.browser = HttpClient(f"http://127.0.0.1:{place.stack.port}")
        self.author = str(place.stack.database.query("SELECT min(id) FROM blog_author"))
        password = (place.stack.folder / "var" / "demo_password").read_text().strip()
        response = self.browser.submit("/admin/login/", username=ADMIN, password=password)
        if response.status != 302:
            raise RuntimeError(f"The admin cannot log in: status {response.status}")

    def submit(self, address: str, **form: str) -> str | None:
        """Submit a form of the desk. Return the address to which it leads; None without a success."""
        try:
            response = self.browser.submit(address, body=BODY, author=self.author, **form)
        except (OSError, HTTPException):
            self.ledger.lose(self.channel)
            self.place.pause(20)
            return None
        if response.status == 302 and "/login/" not in response.headers["Location"]:
            return response.headers["Location"]
        if response.status in UNAVAILABLE:
            self.ledger.lose(self.channel)
        else:
            self.ledger.complain(f"{address} {form}: status {response.status} {response.body[-300:]}")
        return None

    def write(self) -> None:
        """Create a draft, change it, and publish it."""
        text = make_text()
        address = self.submit("/admin/blog/post/add/", title=text, _continue="Save")
        if address is None:
            return
        post_id = int(address.split("/")[-3])
        self.ledger.acknowledge(self.channel, Effect("post.created", post_id, 1), text=text)
        for _ in range(2):
            self.place.pause(2)
            if not self.submit(address, title=(text := make_text()), _continue="Save"):
                return
            self.ledger.acknowledge(self.channel, text=text)
        if self.submit(address, title=text, _act="publish"):
            self.ledger.acknowledge(self.channel, Effect("post.published", post_id))


class Importer:
    """Imports a folder of files, and then the same files with other titles. A failed import is repeated."""

    channel = "import"

    def __init__(self, place: Place) -> None:
        self.place, self.ledger = place, place.ledger
        self.number = 0

    def write(self) -> None:
        self.number += 1
        folder = self.place.stack.folder / f"import{self.number}"
        folder.mkdir()
        for _ in range(2):
            texts = [make_text() for _ in range(FILES)]
            for number, text in enumerate(texts):
                (folder / f"{folder.name}-{number}.md").write_text(f"+++\ntitle = '{text}'\n+++\n{BODY}\n")
            if not self.run(folder):
                return
            for text in texts:
                self.ledger.acknowledge(self.channel, text=text)
        shutil.rmtree(folder)

    def run(self, folder: Path) -> bool:
        """Import the folder until it succeeds. Return whether it has."""
        deadline = None
        while True:
            try:
                self.place.stack.run("manage.py", "import_posts", str(folder), "--source", folder.name)
            except RuntimeError as error:
                if "could not be imported" in str(error):
                    self.ledger.complain(str(error))
                    return False
                self.ledger.lose(self.channel)
            else:
                return True
            if self.place.stopping.is_set():
                deadline = deadline or time.monotonic() + PATIENCE
            if deadline and time.monotonic() > deadline:
                return False


class Psql:
    """Writes by plain SQL: transactions that are committed, and some that are rolled back."""

    channel = "psql"

    def __init__(self, place: Place) -> None:
        self.place, self.ledger, self.rng = place, place.ledger, place.rng
        postgres = place.stack.primary
        address = [f"--host={postgres.socket}", f"--port={postgres.port}", "--username=postgres", "postgres"]
        self.command = [str(PROGRAMS / "psql"), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", *address]
        self.posts: list[int] = []

    def write(self) -> None:
        """Carry out some transactions. psql prints COMMIT after each that PostgreSQL has acknowledged."""
        script = "".join(self.build_transaction() for _ in range(TRANSACTIONS))
        done = subprocess.run(self.command, check=False, input=script, capture_output=True, text=True)
        effects: list[Effect] = []
        text = ""
        for line in done.stdout.splitlines():
            if "|" in line:
                kind, subject, version, text = line.split("|")
                effects.append(Effect(kind, int(subject), int(version) if version else None))
            elif line == "COMMIT":
                self.ledger.acknowledge(self.channel, *effects, text=text)
                self.posts += (effect.subject for effect in effects if effect.type == "post.created")
                effects = []
            elif line == "ROLLBACK":
                effects = []
        if done.returncode:
            self.ledger.lose(self.channel)
        self.place.pause(8)

    def build_transaction(self) -> str:
        is_abandoned = self.rng.random() < ABANDONED
        text = make_text()
        if is_abandoned:
            self.ledger.abandon(text)
        statement = self.rng.choice((INSERT_POST, INSERT_POST, UPDATE_POST, INSERT_COMMENT))
        if not self.posts or statement is INSERT_POST:
            sql = INSERT_POST.format(text=text)
        else:
            sql = statement.format(text=text, post=self.rng.choice(self.posts[-20:]))
        return f"BEGIN; {sql}; {'ROLLBACK' if is_abandoned else 'COMMIT'};\n"


Writer = Api | Desk | Importer | Psql
WRITERS: tuple[Callable[[Place], Writer], ...] = (
    Rest, Rest, Rest, Graphql, Graphql, Graphql, Desk, Desk, Importer, Scheduler, Psql,
)  # fmt: skip
CHANNELS = ("REST", "GraphQL", "desk", "import", "worker", "psql")
