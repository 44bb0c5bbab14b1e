"""A backup that is taken while clients write, and restored elsewhere, has each acknowledged write, and equal tables."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.contentapi.db.backups.operators import Operator, require_success
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, PATIENCE, run_process

pytestmark = pytest.mark.servers
WRITERS = 4
MUTATION = "mutation ($title: String!) { createPost(input: {title: $title, body: $title}) { id } }"


class Writer(Thread):
    """Creates posts until it is stopped, and notes those that the server has acknowledged."""

    def __init__(self, port: int, key: str, name: str) -> None:
        super().__init__(name=name)
        self.port, self.key = port, key
        self.acknowledged: list[str] = []
        self.sent: list[str] = []
        self.is_stopped = Event()

    def run(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            while not self.is_stopped.is_set():
                self.write(connection)

    def write(self, connection: http.client.HTTPConnection) -> None:
        title = f"{self.name} {len(self.sent)}"
        self.sent.append(title)
        body = json.dumps({"query": MUTATION, "variables": {"title": title}})
        connection.request("POST", "/graphql", body, {"Content-Type": "application/json", "X-API-Key": self.key})
        response = connection.getresponse()
        assert (response.status, "errors" in json.loads(response.read())) == (200, False)
        self.acknowledged.append(title)


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    operator = Operator(tmp_path)
    yield operator
    operator.server.finish()


@pytest.fixture
def writers(operator: Operator, tmp_path: Path) -> Iterator[list[Writer]]:
    """Clients that write through a real server while the test runs."""
    created = operator.manage("source", "create_api_key", "admin@example.com", "--name", "load")
    key = require_success(created).strip()
    port = find_free_port()
    limits = {f"CONTENTAPI_RATE_{name}": "10000000/minute" for name in ("AUTHENTICATED", "WRITES")}
    environment = operator.build_environment("source", PORT=str(port), WEB_CONCURRENCY="1", **limits)
    with run_process(COMMANDS["granian"], tmp_path / "server.log", port, environment):
        threads = [Writer(port, key, f"writer {number}") for number in range(WRITERS)]
        for thread in threads:
            thread.start()
        yield threads
        stop(threads)


def stop(writers: list[Writer]) -> None:
    for writer in writers:
        writer.is_stopped.set()
    for writer in writers:
        writer.join(PATIENCE)


def test_backup_under_load_is_restored_exactly(operator: Operator, writers: list[Writer], tmp_path: Path) -> None:
    while min(len(writer.acknowledged) for writer in writers) < 20:
        assert all(writer.is_alive() for writer in writers)
        time.sleep(0.05)
    acknowledged_before = {title for writer in writers for title in writer.acknowledged}
    under_load = require_success(operator.manage("source", "backup", str(tmp_path / "load.dump")))
    sent = {title for writer in writers for title in writer.sent}
    assert all(writer.is_alive() for writer in writers)
    stop(writers)
    at_rest = require_success(operator.manage("source", "backup", str(tmp_path / "rest.dump")))

    restored = operator.create_database()
    done = operator.manage(restored, "restore", str(tmp_path / "load.dump"))
    assert require_success(done) == under_load
    titles = {
        title for (title,) in operator.execute("SELECT title FROM blog_post WHERE title LIKE 'writer %'", restored)
    }
    assert acknowledged_before <= titles <= sent

    assert under_load != at_rest  # clients wrote during or after the backup, and the numbers of rows show it
    again = operator.create_database()
    assert require_success(operator.manage(again, "restore", str(tmp_path / "rest.dump"))) == at_rest
    assert operator.read_rows(again) == operator.read_rows("source")  # a comparison of all values
    print(f"{len(acknowledged_before)} posts acknowledged before the backup, {len(titles)} in it, {len(sent)} sent.")  # noqa: T201
    print(under_load)  # noqa: T201
