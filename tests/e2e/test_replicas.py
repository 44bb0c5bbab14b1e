"""Reads on streaming replicas: which server answers, and what happens when a server fails."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hosts import Host, HostResponse
from tests.postgresql_cluster import PostgresServer
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.processes, pytest.mark.slow]

LAG = 1500  # milliseconds that a replica may lag
DETECTED = 20  # seconds; a failure or a recovery is noticed within two, and later on a busy machine


@dataclass
class Filled:
    """The data directory of a primary with the demo content, an API key of its admin, and the id of a post."""

    folder: Path
    key: str
    post: str


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("filled")
    server = PostgresServer(folder / "primary").create()
    try:
        host = Host(folder / "log", {"DATABASE_URL": server.build_url(), "CONTENTAPI_VAR": str(folder / "var")})
        host.manage("migrate")
        host.manage("load_demo")
        key = host.manage("create_api_key", "admin@example.com", "--name", "test")
        ((post,),) = server.execute("SELECT id FROM blog_post WHERE status = 'published' ORDER BY id LIMIT 1")
        server.stop()
        yield Filled(server.folder, key, str(post))
    finally:
        server.remove()


class Deployment:
    """A primary, its replicas, Redis, and a host that uses them."""

    def __init__(self, folder: Path, filled: Filled, stack: ExitStack) -> None:
        self.folder = folder
        self.filled = filled
        self.stack = stack
        self.primary = PostgresServer(folder / "primary")
        self.replicas: list[PostgresServer] = []

    def start_database(self, *, replicas: int, **settings: str) -> None:
        self.primary.settings |= settings
        shutil.copytree(self.filled.folder, self.primary.folder)
        self.stack.callback(self.primary.remove)
        self.primary.adopt_folder()
        self.primary.start()
        for number in range(1, replicas + 1):
            replica = PostgresServer(self.folder / f"replica{number}")
            self.stack.callback(replica.remove)
            self.replicas.append(replica.copy_from(self.primary))

    def start_host(self, **variables: str) -> Host:
        urls = ",".join(replica.build_url() for replica in self.replicas)
        known = {"DATABASE_URL": self.primary.build_url(), "DATABASE_REPLICA_URLS": urls}
        host = Host(self.folder / "host.log", {**known, "CONTENTAPI_REPLICA_MAX_LAG": str(LAG), **variables})
        self.stack.callback(host.stop)
        return host.start()

    def update_primary(self, title: str) -> None:
        """Change the post without the API, so that no position is stored."""
        self.primary.execute(f"UPDATE blog_post SET title = '{title}' WHERE id = {self.filled.post}")  # noqa: S608

    def read_title(self, host: Host, **headers: str) -> str:
        return str(self.read(host, **headers).body["title"])

    def read(self, host: Host, **headers: str) -> HostResponse:
        return host.request("GET", f"/posts/{self.filled.post}", **headers)

    def write_title(self, host: Host, title: str) -> HostResponse:
        return host.request("PATCH", f"/posts/{self.filled.post}", {"title": title}, X_API_Key=self.filled.key)

    @property
    def key(self) -> dict[str, str]:
        return {"X_API_Key": self.filled.key}


@pytest.fixture
def deployment(tmp_path: Path, filled: Filled) -> Iterator[Deployment]:
    tmp_path.chmod(0o755)
    with ExitStack() as stack:
        yield Deployment(tmp_path, filled, stack)


def wait_for(condition: Callable[[], object], patience: float = DETECTED) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def use_replicas(deployment: Deployment, host: Host) -> None:
    """Wait until anonymous reads use a replica: one whose replay is paused returns old content."""
    for replica in deployment.replicas:
        replica.wait_for_replay(deployment.primary)
        replica.execute("SELECT pg_wal_replay_pause()")
    before = deployment.read_title(host)
    deployment.update_primary("only on the primary")
    wait_for(lambda: deployment.read_title(host) == before)
    for replica in deployment.replicas:
        replica.execute("SELECT pg_wal_replay_resume()")
        replica.wait_for_replay(deployment.primary)


def test_own_write_is_read_although_the_replica_has_not_replayed_it(
    deployment: Deployment, redis_server: RedisServer
) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host(REDIS_URL=redis_server.url, CONTENTAPI_REPLICA_MAX_LAG="60000")
    (replica,) = deployment.replicas
    use_replicas(deployment, host)
    replica.execute("SELECT pg_wal_replay_pause()")

    assert deployment.write_title(host, "Mine").status == 200

    assert deployment.read_title(host, **deployment.key) == "Mine"
    assert deployment.read_title(host) == "only on the primary"  # an anonymous caller reads the replica
    query = {"query": f'{{ post(id: "{deployment.filled.post}") {{ title }} }}'}
    mine = host.request("POST", "/graphql", query, **deployment.key)
    others = host.request("POST", "/graphql", query)
    assert (mine.body["data"]["post"]["title"], others.body["data"]["post"]["title"]) == ("Mine", "only on the primary")


def test_authenticated_reads_use_the_replica_once_it_has_replayed(
    deployment: Deployment, redis_server: RedisServer
) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host(REDIS_URL=redis_server.url)
    use_replicas(deployment, host)
    deployment.write_title(host, "Mine")
    deployment.replicas[0].wait_for_replay(deployment.primary)

    wait_for(lambda: is_read_from_replica(deployment, host, **deployment.key))


def is_read_from_replica(deployment: Deployment, host: Host, **headers: str) -> bool:
    """Return whether a read returns the content of a replica whose replay is paused."""
    (replica,) = deployment.replicas
    replica.execute("SELECT pg_wal_replay_pause()")
    title = f"only on the primary at {time.monotonic()}"
    deployment.update_primary(title)
    is_old = deployment.read_title(host, **headers) != title
    replica.execute("SELECT pg_wal_replay_resume()")
    replica.wait_for_replay(deployment.primary)
    return is_old


@pytest.mark.parametrize("loss", ["flush", "restart"])
def test_positions_lost_by_redis_send_reads_to_the_primary(
    deployment: Deployment, redis_server: RedisServer, loss: str
) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host(REDIS_URL=redis_server.url, CONTENTAPI_REPLICA_MAX_LAG="60000")
    use_replicas(deployment, host)
    deployment.replicas[0].execute("SELECT pg_wal_replay_pause()")
    deployment.write_title(host, "Mine")

    if loss == "flush":
        redis_server.send("FLUSHALL")
    else:
        redis_server.kill()
        assert deployment.read_title(host, **deployment.key) == "Mine"
        redis_server.start()

    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        assert deployment.read_title(host, **deployment.key) == "Mine"
        time.sleep(0.05)
    assert deployment.read_title(host) == "only on the primary"


def test_without_redis_authenticated_reads_use_the_primary(deployment: Deployment) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host(CONTENTAPI_REPLICA_MAX_LAG="60000")
    use_replicas(deployment, host)
    deployment.replicas[0].execute("SELECT pg_wal_replay_pause()")

    deployment.write_title(host, "Mine")

    assert deployment.read_title(host, **deployment.key) == "Mine"
    assert deployment.read_title(host) == "only on the primary"


def test_lagging_replica_is_left_out_and_comes_back(deployment: Deployment) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host()
    use_replicas(deployment, host)
    (replica,) = deployment.replicas

    replica.execute("SELECT pg_wal_replay_pause()")
    deployment.update_primary("new")
    assert deployment.read_title(host) == "only on the primary"
    wait_for(lambda: deployment.read_title(host) == "new")  # from the primary
    assert "replica1 is left out: it lags more than 1.5 s" in host.log.read_text()

    replica.execute("SELECT pg_wal_replay_resume()")
    wait_for(lambda: host.log.read_text().count("replica1 is in use") == 2)
    use_replicas(deployment, host)


@pytest.mark.parametrize("failure", ["kill", "suspend"])
def test_failed_replica_fails_no_read_and_comes_back(deployment: Deployment, failure: str) -> None:
    deployment.start_database(replicas=2)
    host = deployment.start_host()
    use_replicas(deployment, host)
    replica = deployment.replicas[0]
    times: list[float] = []

    def read() -> None:
        started = time.monotonic()
        assert deployment.read(host).status == 200
        times.append(time.monotonic() - started)

    for _ in range(10):
        read()
    getattr(replica, failure)()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        read()

    assert max(times) < 5  # on a busy machine; otherwise less than two seconds
    assert "replica1 is left out" in host.log.read_text()
    if failure == "kill":
        replica.start()
    else:
        replica.resume()
    wait_for(lambda: host.log.read_text().count("replica1 is in use") == 2)


def test_reads_continue_when_the_primary_is_gone(deployment: Deployment, redis_server: RedisServer) -> None:
    deployment.start_database(replicas=1)
    host = deployment.start_host(REDIS_URL=redis_server.url)
    use_replicas(deployment, host)
    token = host.manage("issue_token", "admin@example.com")
    bearer = {"Authorization": f"Bearer {token}"}
    assert deployment.read(host, **bearer).status == 200
    time.sleep(1)  # the fence of the start has been replayed

    deployment.primary.kill()

    assert deployment.read(host).status == 200
    assert deployment.read(host, **bearer).status == 200
    assert deployment.read(host, **deployment.key).status == 200  # the key is looked up on the replica
    another = "0" if deployment.filled.key[-1] != "0" else "1"
    assert deployment.read(host, X_API_Key=deployment.filled.key[:-1] + another).status == 401
    started = time.monotonic()
    assert deployment.write_title(host, "lost").status == 503
    assert time.monotonic() - started < 2

    deployment.primary.start()
    wait_for(lambda: deployment.write_title(host, "kept").status == 200)
    assert deployment.read_title(host, **deployment.key) == "kept"


def test_failover_to_a_replica_needs_no_restart(deployment: Deployment, redis_server: RedisServer) -> None:
    deployment.start_database(replicas=2)
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
