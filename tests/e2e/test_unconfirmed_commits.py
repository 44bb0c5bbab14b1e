"""Commits that wait for a silent synchronous standby: none is acknowledged before the standby has it."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contentapi.db.watch.primary import build_end_of_backends
from tests.deployment.hosts import Host, HostResponse
from tests.deployment.processes import wait_until
from tests.deployment.template import Template

pytestmark = pytest.mark.servers

WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
STATEMENT_TIMEOUT = 2000  # milliseconds; a statement takes some on a busy machine


class Deployment:
    """A primary with a synchronous standby, and a host."""

    def __init__(self, folder: Path, template: Template, stack: ExitStack) -> None:
        self.primary = template.copy_data(folder / "primary", synchronous_standby_names="*")
        self.standby = template.copy_replica(folder / "standby", self.primary)
        for server in (self.primary, self.standby):
            stack.callback(server.remove)
            server.start()
        timeout = {"CONTENTAPI_STATEMENT_TIMEOUT": str(STATEMENT_TIMEOUT)}
        self.host = Host(folder / "host.log", {"DATABASE_URL": self.primary.build_url(), **timeout})
        stack.callback(self.host.stop)
        self.host.start()
        # Not an API key, whose last use is another commit.
        token = self.host.manage("issue_token", "admin@example.com", "--ttl", "86400")
        self.headers = {"Authorization": f"Bearer {token}"}
        self.clients = stack.enter_context(ThreadPoolExecutor(1))

    def send(self, path: str, body: Any, **headers: str) -> "Future[HostResponse]":
        return self.clients.submit(self.host.request, "POST", path, body, **self.headers, **headers)

    def create_post(self, title: str, key: str) -> "Future[HostResponse]":
        return self.send("/posts", {"title": title, "body": "b"}, Idempotency_Key=key)

    def create_post_by_graphql(self, title: str) -> "Future[HostResponse]":
        mutation = f'mutation {{ createPost(input: {{title: "{title}", body: "b"}}) {{ id }} }}'
        return self.send("/graphql", {"query": mutation})

    @contextmanager
    def silent_standby(self) -> Iterator[None]:
        self.wait_for("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
        with self.standby.suspended():
            yield

    def wait_for(self, sql: str) -> None:
        """Wait until a statement has a row."""
        wait_until(lambda: self.primary.execute(sql), sql)

    def cancel_commit(self) -> None:
        self.wait_for(f"SELECT 1 {WAITING}")
        assert self.primary.execute(f"SELECT pg_cancel_backend(pid) {WAITING}") == [(True,)]

    def count_posts(self, title: str) -> int:
        ((number,),) = self.primary.execute(f"SELECT count(*) FROM blog_post WHERE title = '{title}'")  # noqa: S608
        return int(number)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Deployment]:
    with ExitStack() as stack:
        yield Deployment(tmp_path_factory.mktemp("deployment"), template, stack)


def test_cancelled_commit_of_a_transaction_is_unavailable(deployment: Deployment) -> None:
    with deployment.silent_standby():
        response = deployment.create_post("cancelled transaction", "cancelled")
        deployment.cancel_commit()

        assert response.result().status == 503

    assert deployment.count_posts("cancelled transaction") == 1  # it was committed, and nobody has confirmed it


def test_repeated_key_of_a_cancelled_commit_waits_for_the_standby(deployment: Deployment) -> None:
    with deployment.silent_standby():
        first = deployment.create_post("repeated", "repeated")
        deployment.cancel_commit()
        assert first.result().status == 503
        again = deployment.create_post("repeated", "repeated")
        deployment.wait_for(f"SELECT 1 {WAITING}")
        assert not again.done()

    assert again.result().status == 201
    assert again.result().headers["idempotent-replayed"] == "true"
    assert deployment.count_posts("repeated") == 1


@pytest.mark.parametrize("is_one_statement", [True, False])
def test_commit_that_waits_longer_than_the_statement_time_out_succeeds(
    deployment: Deployment, *, is_one_statement: bool
) -> None:
    with deployment.silent_standby():
        create = deployment.create_post_by_graphql if is_one_statement else partial(deployment.create_post, key="long")
        response = create("long wait")
        deployment.wait_for(f"SELECT 1 {WAITING} AND state_change < now() - interval '{2 * STATEMENT_TIMEOUT} ms'")
        assert not response.done()

    assert response.result().status in (200, 201)


def test_end_of_lost_backends_spares_a_commit_that_waits(deployment: Deployment) -> None:
    with deployment.silent_standby():
        response = deployment.create_post("spared", "spared")
        deployment.wait_for(f"SELECT 1 {WAITING}")
        lost = deployment.primary.execute(f"SELECT pid, client_port {WAITING}")

        assert deployment.primary.execute(build_end_of_backends([(int(pid), int(port)) for pid, port in lost])) == []

    assert response.result().status == 201


def test_write_after_a_cancelled_commit_succeeds_on_the_same_connection(deployment: Deployment) -> None:
    with deployment.silent_standby():
        response = deployment.create_post_by_graphql("before")
        deployment.cancel_commit()
        assert response.result().status == 503

    assert deployment.create_post_by_graphql("after").result().status == 200
