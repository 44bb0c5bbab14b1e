"""An update without downtime: no request fails, and no acknowledged write is lost.

Two servers of the old release run behind nginx, under a load of reads and writes. The new release adds a column, an
index and a constraint. Its `migrate` runs while a long transaction reads the changed table, and then while the old
servers continue. Afterwards the servers are replaced one after the other, as docs/operations/run.md describes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Lock, Thread
from typing import NamedTuple

import psutil
import psycopg
import pytest

from tests.deployment.checkout import Checkout
from tests.deployment.hosts import Host
from tests.deployment.ports import find_free_port
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import run_process, wait_until
from tests.deployment.proxies import CONFIGURATION, adapt_configuration, find_nginx, require_nginx
from tests.deployment.template import Template
from tests.e2e.next_release import write_migrations

READERS, WRITERS = 2, 2
PAUSE = 0.01  # seconds of a client between two requests
QUIET = 1.0  # seconds of load before and after the update
DRAINING = 1.0  # seconds between the proxy's last request and the end of a server
QUERY = "{ posts(limit: 10) { id title author { name } comments(limit: 3) { id } } }"
MUTATION = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }"
RESULT = "SELECT count(*) FROM blog_post WHERE title LIKE 'Written under load %'"

pytestmark = [
    pytest.mark.servers,
    pytest.mark.thorough,
    pytest.mark.skipif(find_nginx() is None, reason="nginx is not installed"),
]


class Observation(NamedTuple):
    sent: int
    failures: list[str]
    acknowledged: int
    stored: int
    output: str  # of migrate
    checked: str  # the output of the check of migrations, in the new release
    state: tuple[bool, bool, str]  # the index is valid, the constraint is valid, the default of the column
    folders: list[Path]  # of the servers at the end


class Load:
    """Clients that read and write, each with a new connection for each request, until they are stopped."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key
        self.lock, self.stopped = Lock(), Event()
        self.failures: list[str] = []
        self.sent = self.acknowledged = 0
        self.threads = [Thread(target=self.read) for _ in range(READERS)]
        self.threads += [Thread(target=self.write, args=[number]) for number in range(WRITERS)]

    def run(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def read(self) -> None:
        number = 0
        while not self.stopped.wait(PAUSE):
            number += 1
            if number % 2:
                self.send("GET", "/posts?limit=10", None)
            else:
                self.send("POST", "/graphql", {"query": QUERY})

    def write(self, writer: int) -> None:
        number = 0
        while not self.stopped.wait(PAUSE):
            number += 1
            variables = {"input": {"title": f"Written under load {writer}.{number}", "body": "Text."}}
            if self.send("POST", "/graphql", {"query": MUTATION, "variables": variables}):
                with self.lock:
                    self.acknowledged += 1

    def send(self, method: str, path: str, body: object) -> bool:
        """Send a request. Return whether the response is a success."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json", "X-API-Key": self.key, "Connection": "close"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
            failure = "" if response.status == 200 and '"errors"' not in text else f"{response.status} {text[:200]}"
        except (OSError, HTTPException) as error:
            failure = repr(error)
        finally:
            connection.close()
        with self.lock:
            self.sent += 1
            if failure:
                self.failures.append(f"{method} {path}: {failure}")
        return not failure


class Proxy:
    """nginx with the configuration of deploy/, in front of several servers."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.folder, self.ports, self.port = folder, ports, find_free_port()
        folder.mkdir()
        self.configure()

    def configure(self, *, down: int | None = None) -> None:
        """Write the configuration. The server on the port `down` gets no requests."""
        servers = "\n".join(f"server 127.0.0.1:{each}{' down' if each == down else ''};" for each in self.ports)
        text = adapt_configuration(CONFIGURATION.read_text(), self.folder, self.port, 8000)
        (self.folder / "nginx.conf").write_text(text.replace("server 127.0.0.1:8000;", servers))

    def take_out(self, port: int | None) -> None:
        """Take a server out, or put all in with None, and wait until no process has the former configuration."""
        self.configure(down=port)
        master = psutil.Process(int((self.folder / "nginx.pid").read_text()))
        before = {process.pid for process in master.children()}
        master.send_signal(signal.SIGHUP)
        wait_until(lambda: before.isdisjoint({process.pid for process in master.children()}), "the end of old workers")
        time.sleep(DRAINING)

    @contextmanager
    def running(self) -> Iterator[None]:
        directives = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")
        command = [require_nginx(), "-p", str(self.folder), "-c", f"{self.folder}/nginx.conf", "-g", directives]
        with run_process(command, self.folder / "nginx.log", self.port, dict(os.environ)):
            yield


def add_posts(database: PostgresServer) -> None:
    database.execute(
        "INSERT INTO blog_post (title, body, status, author_id, tags, created_at, updated_at, version, published_at) "
        "SELECT 'Post ' || number, repeat('Text. ', 100), 'published', (SELECT min(id) FROM blog_author), '{}', "
        "now(), now(), 1, now() FROM generate_series(1, 5000) AS number"
    )


def migrate_during_long_transaction(new: Host, database: PostgresServer, log: Path) -> str:
    """Run `migrate` while a transaction that has read the changed table is open, until `migrate` has failed once.

    Return its output.
    """
    with psycopg.connect(database.build_url()) as reader, log.open("wb") as output:
        reader.execute("SELECT count(*) FROM blog_post")
        command = [sys.executable, "manage.py", "migrate", "--noinput"]
        process = subprocess.Popen(command, cwd=new.folder, env=new.environment, stdout=output, stderr=output)
        while process.poll() is None and "could not get a lock" not in log.read_text():
            time.sleep(0.1)
    assert process.wait(120) == 0, log.read_text()
    return log.read_text()


def is_ready(host: Host) -> bool:
    with suppress(OSError):
        return host.request("GET", "/readyz?exclude=redis,worker").status == 200
    return False


def replace(old: Host, new: Host, proxy: Proxy) -> None:
    """Replace a server by one of the new release on the same port."""
    proxy.take_out(old.port)
    old.stop()
    new.start()
    wait_until(lambda: is_ready(new), "the readiness of the new server")
    proxy.take_out(None)


def read_state(database: PostgresServer) -> tuple[bool, bool, str]:
    ((index,),) = database.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = 'blog_post_subtitle'::regclass")
    ((constraint,),) = database.execute(
        "SELECT convalidated FROM pg_constraint WHERE conname = 'blog_post_subtitle_allowed'"
    )
    ((default,),) = database.execute(
        "SELECT column_default FROM information_schema.columns WHERE column_name = 'subtitle'"
    )
    return index, constraint, default


def update(folder: Path, template: Template) -> Observation:
    """Run the update in a folder, and return what was observed."""
    releases = [Checkout(folder / name).folder for name in ("old", "new")]
    write_migrations(releases[1])
    with ExitStack() as stack:
        database = template.copy_data(folder / "primary")
        stack.callback(database.remove)
        database.start()
        variables = {"DATABASE_URL": database.build_url(), "CONTENTAPI_TRUSTED_PROXIES": "1"}
        old = [Host(folder / f"old{number}.log", variables, folder=releases[0]) for number in (1, 2)]
        new = [Host(folder / f"new{each.port}.log", variables, port=each.port, folder=releases[1]) for each in old]
        for host in old:
            stack.callback(host.stop)
            host.start()
        add_posts(database)
        proxy = Proxy(folder / "proxy", [host.port for host in old])
        stack.enter_context(proxy.running())

        load = Load(proxy.port, template.key)
        load.run()
        try:
            time.sleep(QUIET)
            output = migrate_during_long_transaction(new[0], database, folder / "migrate.log")
            for before, after in zip(old, new, strict=True):
                stack.callback(after.stop)
                replace(before, after, proxy)
            time.sleep(QUIET)
        finally:
            load.stop()
        ((stored,),) = database.execute(RESULT)
        folders = [Path(f"/proc/{host.process.pid}/cwd").resolve() for host in new if host.process]
        checked = subprocess.run(
            [sys.executable, "-m", "tests.quality.migrations"],
            cwd=releases[1], env=new[0].environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Observation(
            load.sent, load.failures, load.acknowledged, stored, output, checked.stdout + checked.stderr,
            read_state(database), folders,
        )  # fmt: skip


def test_no_request_fails_while_a_release_replaces_another(tmp_path: Path, template: Template) -> None:
    observed = update(tmp_path, template)

    assert observed.failures == []
    assert observed.sent > observed.acknowledged == observed.stored > 0
    assert observed.state == (True, True, "''::character varying")
    assert observed.folders == [tmp_path / "new"] * 2
    assert "could not get a lock within 1s" in observed.output
    assert "problems that are not accepted: 0" in observed.checked
