"""/healthz and /readyz of both servers, on a PostgreSQL and a Redis that are missing, unmigrated, stopped or hang."""

import json
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from tests.e2e.checkout import Checkout, Run, free_port
from tests.e2e.test_deployment import SECRET, Database
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.processes, pytest.mark.slow]
GRANIAN = [".venv/bin/python", "-m", "contentapi.server.granian"]
GUNICORN = [".venv/bin/python", "-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"]
SERVERS = pytest.mark.parametrize("command", [GRANIAN, GUNICORN], ids=["granian", "gunicorn"])


class Answer(NamedTuple):
    """A response and the seconds until it arrived."""

    status: int
    content: Any
    headers: dict[str, str]
    seconds: float

    @property
    def failures(self) -> dict[str, str]:
        """The reasons of the checks that failed."""
        return {name: each["reason"] for name, each in self.content["checks"].items() if each["status"] == "failed"}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    folder = tmp_path / "operators"
    folder.mkdir()
    database = Database(folder)
    yield database
    for process in list_postgres_processes(database):
        process.resume()
    database.stop()


def list_postgres_processes(database: Database) -> list[psutil.Process]:
    """Return the processes of a PostgreSQL, the first one first."""
    return [process for process in psutil.process_iter() if is_of_database(process, database)]


def is_of_database(process: psutil.Process, database: Database) -> bool:
    try:
        return process.name() == "postgres" and Path(process.cwd()) == database.data
    except (OSError, psutil.Error):
        return False


def start(checkout: Checkout, command: list[str], variables: dict[str, str]) -> Run:
    environment = checkout.environment(port=free_port(), CONTENTAPI_HTTPS="on", **variables)
    run = Run(checkout, command, environment)
    wait_until(lambda: get(run, "/healthz").status == 200, run)
    return run


def wait_until(condition: Callable[[], bool], run: Run, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            assert run.process.poll() is None, run.printed
        assert time.monotonic() < deadline, run.printed
        time.sleep(0.1)


def get(run: Run, path: str) -> Answer:
    connection = HTTPConnection("127.0.0.1", int(run.port), timeout=30)
    begin = time.monotonic()
    connection.request("GET", path, headers={"Host": "10.1.2.3:8000"})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return Answer(response.status, json.loads(content), dict(response.headers), time.monotonic() - begin)


def build_variables(database: Database, **more: str) -> dict[str, str]:
    return {"DATABASE_URL": database.url, "SECRET_KEY": SECRET, "JWT_SECRET": SECRET, **more}


@SERVERS
def test_unmigrated_database_is_stated_and_migrating_makes_the_server_ready(
    checkout: Checkout, database: Database, command: list[str]
) -> None:
    variables = build_variables(database)
    run = start(checkout, command, variables)

    unmigrated = get(run, "/readyz")
    assert (unmigrated.status, list(unmigrated.failures)) == (503, ["migrations"])
    assert {name.lower(): value for name, value in unmigrated.headers.items()}["retry-after"] == "5"
    assert "Run python manage.py migrate." in unmigrated.failures["migrations"]
    lines = [line for line in run.printed.splitlines() if "migrations are not applied" in line]
    assert "Until then /readyz is 503" in lines[0]
    assert sum("Until then /readyz is 503" in line for line in lines) == 1
    assert get_posts(run) == (503, "UNAVAILABLE")

    assert checkout.manage("migrate", "--noinput", **variables).returncode == 0

    wait_until(lambda: get(run, "/readyz").status == 200, run, seconds=5)
    assert get_posts(run) == (200, None)


def get_posts(run: Run) -> tuple[int, str | None]:
    connection = HTTPConnection("127.0.0.1", int(run.port), timeout=30)
    connection.request("GET", "/posts", headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers["X-Error-Code"]


@SERVERS
def test_server_starts_without_its_database_and_becomes_ready(
    checkout: Checkout, database: Database, command: list[str]
) -> None:
    variables = build_variables(database)
    assert checkout.manage("migrate", "--noinput", **variables).returncode == 0
    database.stop()
    run = start(checkout, command, variables)

    down = get(run, "/readyz")
    assert (down.status, list(down.failures)) == (503, ["database"])
    assert str(database.address) not in json.dumps(down.content)
    assert "The server starts, and is ready when the database is." in run.printed

    database.start()

    wait_until(lambda: get(run, "/readyz").status == 200, run, seconds=5)


@SERVERS
def test_postgresql_and_redis_that_hang_are_named_in_time(
    checkout: Checkout, database: Database, redis_server: RedisServer, command: list[str]
) -> None:
    variables = build_variables(database, REDIS_URL=redis_server.url, WEB_CONCURRENCY="1")
    assert checkout.manage("migrate", "--noinput", **variables).returncode == 0
    run = start(checkout, command, variables)
    wait_until(lambda: get(run, "/readyz").status == 200, run)
    time.sleep(1.1)  # the cached result expires

    redis_server.hang()
    suspended = list_postgres_processes(database)
    for process in suspended:
        process.suspend()
    hanging = [get(run, "/readyz") for _ in range(5)]
    alive = get(run, "/healthz")
    for process in suspended:
        process.resume()
    redis_server.go_on()

    assert [answer.status for answer in hanging] == [503] * 5
    assert hanging[0].failures == {
        "database": "PostgreSQL does not respond in time.",
        "redis": "Redis does not respond in time.",
    }
    assert max(answer.seconds for answer in hanging) < 2.5
    assert sum(answer.seconds < 0.5 for answer in hanging) >= 3
    assert alive.status == 200
    assert alive.seconds < 0.5
    wait_until(lambda: get(run, "/readyz").status == 200, run, seconds=5)
    assert run.printed.count("Not ready: database. PostgreSQL does not respond in time.") == 1


def test_doctor_of_a_deployment_names_what_is_wrong(checkout: Checkout, database: Database) -> None:
    variables = build_variables(database)
    unmigrated = checkout.manage("doctor", "--json", **variables)
    database.stop()
    down = checkout.manage("doctor", "--json", **variables)

    assert unmigrated.returncode == down.returncode == 1
    problems = {each["check"] for each in json.loads(unmigrated.stdout) if each["status"] == "problem"}
    assert problems == {"settings", "migrations"}  # CONTENTAPI_HTTPS is off
    problems = {each["check"] for each in json.loads(down.stdout) if each["status"] == "problem"}
    assert problems == {"settings", "database"}
    assert SECRET not in down.stdout + down.stderr + unmigrated.stdout + unmigrated.stderr
    assert "Traceback" not in down.stderr
