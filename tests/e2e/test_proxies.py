"""nginx and Caddy with the configurations of deploy/, in front of granian and gunicorn."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.hostile.servers import find_nginx, run_process, start_nginx
from tests.database_template import Template
from tests.hosts import Host
from tests.ports import find_free_port
from tests.postgresql_cluster import PostgresServer

CADDYFILE = Path(__file__).resolve().parents[2] / "deploy" / "Caddyfile"
pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(find_nginx() is None or shutil.which("caddy") is None, reason="nginx or Caddy is not installed"),
]


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


def send(port: int, method: str, path: str, body: object = None, **headers: str) -> Response:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request(method, path, None if body is None else json.dumps(body), sent)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return Response(response.status, {name.lower(): value for name, value in response.headers.items()}, text)


@contextmanager
def start_caddy(upstream: int, folder: Path) -> Iterator[int]:
    """Run Caddy in front of a server's port and a port without a server. Yield the port of Caddy."""
    port, closed, admin = find_free_port(), find_free_port(), find_free_port()
    variables = {
        "CONTENTAPI_SITE": f"http://127.0.0.1:{port}",
        "CONTENTAPI_SERVERS": f"127.0.0.1:{closed} 127.0.0.1:{upstream}",
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    copy = folder / "Caddyfile"
    copy.write_text(CADDYFILE.read_text().replace("{\n", f"{{\n\tadmin 127.0.0.1:{admin}\n", 1))
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(copy)]
    with run_process(command, folder / "caddy.log", port, os.environ | variables):
        yield port


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[PostgresServer]:
    database = template.copy_data(tmp_path_factory.mktemp("proxies") / "primary")
    try:
        database.start()
        yield database
    finally:
        database.remove()


@pytest.fixture(scope="module", params=["granian", "gunicorn"])
def host(
    database: PostgresServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Host]:
    variables = {
        "DATABASE_URL": database.build_url(),
        "CONTENTAPI_TRUSTED_PROXIES": "1",
        "CONTENTAPI_RATE_ANONYMOUS": "50/hour",
    }
    host = Host(tmp_path_factory.mktemp("host") / "server.log", variables, server=request.param)
    host.start()
    yield host
    host.stop()


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def port(host: Host, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[int]:
    start = {"nginx": start_nginx, "caddy": start_caddy}[request.param]
    with start(host.port, tmp_path_factory.mktemp("proxy")) as port:
        yield port


def test_requests_pass_the_proxy(port: int) -> None:
    query = send(port, "POST", "/graphql", {"query": "{ posts(limit: 1) { title } }"})
    resource = send(port, "GET", "/posts?limit=1")
    page = send(port, "GET", "/admin/login/?next=/admin/")
    too_long = send(port, "POST", "/graphql", {"query": "{ posts { id } }", "variables": {"filler": "x" * 1_500_000}})

    assert (query.status, query.text) == (200, '{"data":{"posts":[{"title":"How we name our boats"}]}}')
    assert resource.status == 200
    assert page.status == 200
    assert 'name="password"' in page.text
    assert too_long.status == 413
    assert "CONTENTAPI_MAX_BODY" in too_long.text  # the response of the API, not of the proxy


def test_health_is_published_and_paths_of_monitoring_are_not(port: int) -> None:
    assert send(port, "GET", "/healthz").status == 200
    for path in ("/metrics", "/readyz", "/readyz?exclude=clock"):
        response = send(port, "GET", path)

        assert response.status == 404, path
        assert "checks" not in response.text, path


def test_client_cannot_choose_the_address_that_is_limited(port: int) -> None:
    first = send(port, "GET", "/posts", X_Forwarded_For="192.0.2.1")
    second = send(port, "GET", "/posts", X_Forwarded_For="192.0.2.2")

    assert [response.status for response in (first, second)] == [200, 200]
    assert read_remaining(second) == read_remaining(first) - 1


def read_remaining(response: Response) -> int:
    return int(response.headers["ratelimit"].split("r=")[1].split(";")[0])


def test_caddy_accepts_the_configuration(tmp_path: Path) -> None:
    variables = {"CONTENTAPI_SITE": "api.example.com", "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["caddy", *arguments]
        return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)

    validated = run("validate", "--adapter", "caddyfile", "--config", str(CADDYFILE))
    assert validated.returncode == 0, validated.stderr
    assert "Valid configuration" in validated.stdout + validated.stderr
    assert run("fmt", str(CADDYFILE)).stdout == CADDYFILE.read_text()
