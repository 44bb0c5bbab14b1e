"""Reads on streaming replicas: which server answers, and what happens when a server fails."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.deployment.hosts import Host, HostResponse
from tests.deployment.processes import wait_until
from tests.deployment.redis_server import RedisServer
from tests.deployment.template import Template

pytestmark = pytest.mark.servers

LAG = 1500  # milliseconds that a replica may lag
DETECTED = 60  # seconds; a failure or a recovery is noticed within two, and later on a busy machine
ANY_LAG = {"CONTENTAPI_REPLICA_MAX_LAG": "600000"}


class Deployment:
    """A primary with the demo, its replicas, and hosts that use them."""

    def __init__(self, folder: Path, template: Template, stack: ExitStack, *, replicas: int) -> None:
        self.folder, self.stack, self.api_key = folder, stack, template.key
        self.primary = template.copy_data(folder / "primary")
        stack.callback(self.primary.remove)
        self.replicas = [
            template.copy_replica(folder / f"replica{number}", self.primary) for number in range(1, replicas + 1)
        ]
        for server in (self.primary, *self.replicas):
            stack.callback(server.remove)
            server.start()
        ((self.post,),) = self.primary.execute("SELECT min(id) FROM blog_post WHERE status = 'published'")

    def start_host(self, **variables: str) -> Host:
        urls = ",".join(replica.build_url() for replica in self.replicas)
        known = {"DATABASE_URL": self.primary.build_url(), "DATABASE_REPLICA_URLS": urls}
        log = self.folder / f"host{time.monotonic_ns()}.log"
        host = Host(log, {**known, "CONTENTAPI_REPLICA_MAX_LAG": str(LAG), **variables})
        self.stack.callback(host.stop)
        return host.start()

    def update_primary(self, title: str) -> None:
        """Change the post without the API, so that nothing notes a write of a user."""
        self.primary.execute(f"UPDATE blog_post SET title = '{title}' WHERE id = {self.post}")  # noqa: S608

    def read_title(self, host: Host, **headers: str) -> str:
        return str(self.read(host, **headers).body["title"])

    def read(self, host: Host, **headers: str) -> HostResponse:
        return host.request("GET", f"/posts/{self.post}", **headers)

    def write_title(self, host: Host, title: str) -> HostResponse:
        return host.request("PATCH", f"/posts/{self.post}", {"title": title}, X_API_Key=self.api_key)

    @property
    def key(self) -> dict[str, str]:
        return {"X_API_Key": self.api_key}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Callable[[int], Deployment]]:
    """Return a function that builds a deployment with some replicas, which runs until the end of the module."""
    with ExitStack() as stack:

        def build(replicas: int) -> Deployment:
            folder = tmp_path_factory.mktemp("deployment")
            return Deployment(folder, template, stack, replicas=replicas)

        yield build


@pytest.fixture(scope="module")
def deployment(build: Callable[[int], Deployment]) -> Deployment:
    """A deployment with one replica. A test leaves it running, and the replica replays again."""
    return build(1)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def host(deployment: Deployment, redis: RedisServer) -> Host:
    """A host with Redis, which uses a replica however much it lags."""
    return deployment.start_host(REDIS_URL=redis.url, **ANY_LAG)


@pytest.fixture(scope="module")
def prompt_host(deployment: Deployment, redis: RedisServer) -> Host:
    """A host that uses a replica while it lags little. Its Redis database knows no writes of the other host."""
    return deployment.start_host(REDIS_URL=f"{redis.url.removesuffix('0')}1")


def wait_for(condition: Callable[[], object]) -> None:
    wait_until(condition, "the change", DETECTED)


def use_replicas(deployment: Deployment, host: Host) -> None:
    """Wait until anonymous reads use a replica, and let it replay a title that was not written by the API."""
    wait_for(lambda: is_read_from_replica(deployment, host))
    deployment.update_primary("only on the primary")
    for replica in deployment.replicas:
        replica.wait_for_replay(deployment.primary)


def is_read_from_replica(deployment: Deployment, host: Host, **headers: str) -> bool:
    """Return whether a read returns old content, which replicas have while their replay is paused."""
    for replica in deployment.replicas:
        replica.execute("SELECT pg_wal_replay_pause()")
    title = f"only on the primary at {time.monotonic()}"
    deployment.update_primary(title)
    is_old = deployment.read_title(host, **headers) != title
    for replica in deployment.replicas:
        replica.execute("SELECT pg_wal_replay_resume()")
        replica.wait_for_replay(deployment.primary)
    return is_old


def test_own_write_is_read_although_the_replica_has_not_replayed_it(deployment: Deployment, host: Host) -> None:
    use_replicas(deployment, host)
    (replica,) = deployment.replicas
    replica.execute("SELECT pg_wal_replay_pause()")

    assert deployment.write_title(host, "Mine").status == 200

    assert deployment.read_title(host, **deployment.key) == "Mine"
    wait_for_old_title(deployment, host)  # an anonymous caller reads the replica
    query = {"query": f'{{ post(id: "{deployment.post}") {{ title }} }}'}
    mine = host.request("POST", "/graphql", query, **deployment.key)
    assert mine.body["data"]["post"]["title"] == "Mine"
    wait_for(lambda: host.request("POST", "/graphql", query).body["data"]["post"]["title"] == "only on the primary")

    replica.execute("SELECT pg_wal_replay_resume()")


def wait_for_old_title(deployment: Deployment, host: Host) -> None:
    """Wait until an anonymous caller reads a replica. A busy one is left out for a moment."""
    wait_for(lambda: deployment.read_title(host) == "only on the primary")


def test_without_an_answer_of_redis_authenticated_reads_use_the_primary(
    deployment: Deployment, host: Host, redis: RedisServer
) -> None:
    use_replicas(deployment, host)
    deployment.replicas[0].execute("SELECT pg_wal_replay_pause()")
    deployment.write_title(host, "Mine")

    redis.kill()
    assert deployment.read_title(host, **deployment.key) == "Mine"
    redis.start()

    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:  # the Redis that was started knows no write
        assert deployment.read_title(host, **deployment.key) == "Mine"
        time.sleep(0.05)
    wait_for_old_title(deployment, host)
    deployment.replicas[0].execute("SELECT pg_wal_replay_resume()")


def read_preview(host: Host, token: str) -> str:
    """Return the title that a preview token shows, or the code of the error."""
    query = {"query": "{ preview { post { title } } }"}
    body = host.request("POST", "/graphql", query, Preview_Token=token).body
    found = body["errors"][0]["extensions"]["code"] if "errors" in body else body["data"]["preview"]["post"]["title"]
    return str(found)


def test_preview_is_read_from_the_primary(deployment: Deployment, host: Host) -> None:
    use_replicas(deployment, host)
    (replica,) = deployment.replicas
    wait_for(lambda: deployment.write_title(host, "Mine").status == 200)
    post = host.request("POST", "/posts", {"title": "Ebb", "body": ""}, **deployment.key).body["id"]
    link = host.request("POST", f"/posts/{post}/preview-links", {}, **deployment.key).body
    replica.wait_for_replay(deployment.primary)
    replica.execute("SELECT pg_wal_replay_pause()")

    # The replica has the draft and the link, and keeps both as they are now.
    host.request("PATCH", f"/posts/{post}", {"title": "Flood"}, **deployment.key)
    wait_for(lambda: read_preview(host, link["token"]) == "Flood")
    host.request("DELETE", f"/preview-links/{link['id']}", **deployment.key)
    wait_for(lambda: read_preview(host, link["token"]) == "UNAUTHENTICATED")

    assert replica.execute(f"SELECT title FROM blog_post WHERE id = {post}") == [("Ebb",)]  # noqa: S608
    replica.execute("SELECT pg_wal_replay_resume()")


def test_reads_continue_when_the_primary_is_gone(deployment: Deployment, prompt_host: Host) -> None:
    use_replicas(deployment, prompt_host)
    bearer = {"Authorization": f"Bearer {prompt_host.manage('issue_token', 'admin@example.com')}"}
    wait_for(lambda: is_read_from_replica(deployment, prompt_host, **bearer))
    wait_for(lambda: is_read_from_replica(deployment, prompt_host, **deployment.key))

    deployment.primary.kill()

    assert deployment.read(prompt_host).status == 200
    assert deployment.read(prompt_host, **bearer).status == 200
    assert deployment.read(prompt_host, **deployment.key).status == 200  # the key is looked up on the replica
    another = "0" if deployment.api_key[-1] != "0" else "1"
    assert deployment.read(prompt_host, X_API_Key=deployment.api_key[:-1] + another).status == 401
    assert deployment.write_title(prompt_host, "lost").status == 503

    deployment.primary.start()
    wait_for(lambda: deployment.write_title(prompt_host, "kept").status == 200)
    assert deployment.read_title(prompt_host, **deployment.key) == "kept"


def test_replica_that_lags_or_fails_is_left_out_and_comes_back(build: Callable[[int], Deployment]) -> None:
    deployment = build(2)
    host = deployment.start_host()

    def count(event: str) -> int:
        return host.log.read_text().count(f"replica1 is {event}")

    use_replicas(deployment, host)  # whose reads have shown old content
    for replica in deployment.replicas:
        replica.execute("SELECT pg_wal_replay_pause()")
    deployment.update_primary("new")
    wait_for(lambda: count("left out: it lags more than 1.5 s"))
    wait_for(lambda: deployment.read_title(host) == "new")  # from the primary
    used = count("in use")
    for replica in deployment.replicas:
        replica.execute("SELECT pg_wal_replay_resume()")
    wait_for(lambda: count("in use") > used)

    for fail, restore in (("kill", "start"), ("suspend", "resume")):
        use_replicas(deployment, host)
        left_out = count("left out")
        getattr(deployment.replicas[0], fail)()
        while count("left out") == left_out:
            assert deployment.read(host).status == 200  # which ends, although the replica hangs
        assert [deployment.read(host).status for _ in range(10)] == [200] * 10
        used = count("in use")
        getattr(deployment.replicas[0], restore)()
        wait_for(lambda: count("in use") > used)  # noqa: B023


def test_failover_to_a_replica_needs_no_restart(build: Callable[[int], Deployment], redis_server: RedisServer) -> None:
    deployment = build(2)
    primary, (first, second) = deployment.primary, deployment.replicas
    hosts = f"127.0.0.1:{primary.port},127.0.0.1:{first.port}"
    host = deployment.start_host(REDIS_URL=redis_server.url, DATABASE_URL=f"postgresql://postgres@{hosts}/contentapi")
    use_replicas(deployment, host)
    assert deployment.write_title(host, "before").status == 200
    first.wait_for_replay(primary)
    second.wait_for_replay(primary)

    primary.kill()
    first.promote()
    second.execute(f"ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port={first.port} user=postgres'")
    second.execute("SELECT pg_reload_conf()")

    wait_for(lambda: deployment.write_title(host, "after").status == 200)
    assert deployment.read_title(host, **deployment.key) == "after"
    wait_for(lambda: "replica1 is left out: it is not a replica" in host.log.read_text())
    second.wait_for_replay(first)
    wait_for(lambda: deployment.read_title(host) == "after")
