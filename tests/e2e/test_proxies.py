"""nginx, Caddy and an Ingress with the configurations of deploy/, in front of granian and gunicorn."""

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.deployment.hosts import Host
from tests.deployment.ports import find_free_port
from tests.deployment.postgresql import PostgresServer
from tests.deployment.proxies import DEPLOY, find_nginx, start_caddy, start_nginx, start_nginx_with_media
from tests.deployment.template import Template
from tests.e2e.forged_headers import SHAPES, send_from

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


def build_ingress_configuration() -> str:
    """Return the configuration that ingress-nginx makes of the manifests, as far as it concerns headers and paths."""
    texts = [path.read_text() for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml"]
    manifests = [manifest for text in texts for manifest in yaml.safe_load_all(text)]
    found = {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in manifests}
    controller = found["ConfigMap", "ingress-nginx-controller"]["data"]
    headers = found["ConfigMap", controller["proxy-set-headers"].split("/")[1]]["data"]
    locations = []
    for path in list_paths(found["Ingress", "contentapi"]):
        name = path["backend"]["service"]["name"]
        modifier = "= " if path["pathType"] == "Exact" else ""
        action = f"proxy_pass http://{name}" if "selector" in found["Service", name]["spec"] else "return 503"
        locations.append(f"location {modifier}{path['path']} {{ {action}; }}")
    canary = found["Ingress", "contentapi-subscriptions"]
    (path,) = list_paths(canary)
    locations.append(f"location = {path['path']} {{ proxy_pass http://$canary; }}")
    annotations = canary["metadata"]["annotations"]
    pattern = annotations["nginx.ingress.kubernetes.io/canary-by-header-pattern"]
    header = annotations["nginx.ingress.kubernetes.io/canary-by-header"].lower()
    switches = {"true": "on", "false": "off"}
    return f"""
        pid /run/nginx.pid;
        error_log /var/log/nginx/error.log {controller["error-log-level"]};
        events {{}}
        http {{
            log_format upstream '{controller["log-format-upstream"]}';
            access_log /var/log/nginx/access.log upstream;
            client_max_body_size 51m;
            underscores_in_headers {switches[controller["enable-underscores-in-headers"]]};
            ignore_invalid_headers {switches[controller["ignore-invalid-headers"]]};
            {controller["http-snippet"]}
            upstream contentapi {{ server 127.0.0.1:8000; }}
            upstream contentapi-stream {{ server 127.0.0.1:8100; }}
            map $http_{header} $canary {{ default contentapi; "~{pattern}" {path["backend"]["service"]["name"]}; }}
            server {{
                listen 80 default_server;
                proxy_set_header Host $host;
                proxy_set_header X-Forwarded-For $remote_addr;
                proxy_set_header X-Forwarded-Proto $scheme;
                {" ".join(f'proxy_set_header {name} "{value}";' for name, value in headers.items())}
                {" ".join(locations)}
            }}
        }}
    """


def list_paths(ingress: dict[str, Any]) -> list[dict[str, Any]]:
    paths: list[dict[str, Any]] = ingress["spec"]["rules"][0]["http"]["paths"]
    return paths


def find_loopback_addresses() -> list[str]:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return ["127.0.0.1"]
    return ["127.0.0.1", "[::1]"]


LOOPBACK = find_loopback_addresses()
# Addresses of clients. The server sees connections from 127.0.0.1 only.
CLIENTS = ["127.0.0.2", "127.0.0.3", *(["::1"] if len(LOOPBACK) > 1 else [])]


SERVERS = ("granian", "gunicorn")
PROXIES: dict[str, Callable[..., AbstractContextManager[int]]] = {
    "nginx": partial(start_nginx, addresses=LOOPBACK),
    "caddy": start_caddy,
    "ingress": partial(start_nginx, addresses=LOOPBACK, text=build_ingress_configuration()),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[PostgresServer]:
    database = template.copy_data(tmp_path_factory.mktemp("proxies") / "primary")
    try:
        database.start()
        yield database
    finally:
        database.remove()


@pytest.fixture(scope="module")
def hosts(database: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Host]]:
    """Yield a running server of each kind."""
    variables = {
        "DATABASE_URL": database.build_url(),
        "CONTENTAPI_TRUSTED_PROXIES": "1",
        "CONTENTAPI_RATE_ANONYMOUS": "1000/hour",
    }
    hosts = {name: Host(tmp_path_factory.mktemp(name) / "log", variables, server=name) for name in SERVERS}
    with ExitStack() as stack:
        for host in hosts.values():
            stack.callback(host.stop)
            host.start()
        yield hosts


@pytest.fixture(scope="module")
def ports(hosts: dict[str, Host], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], int]]:
    """Yield the port of each proxy in front of each server."""
    with ExitStack() as stack:
        yield {
            (name, proxy): stack.enter_context(start(hosts[name].port, tmp_path_factory.mktemp(f"{name}-{proxy}")))
            for name, (proxy, start) in product(SERVERS, PROXIES.items())
        }


@pytest.fixture(params=PROXIES)
def proxy(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=SERVERS)
def port(proxy: str, ports: dict[tuple[str, str], int], request: pytest.FixtureRequest) -> int:
    return ports[request.param, proxy]


def test_requests_pass_the_proxy(proxy: str, ports: dict[tuple[str, str], int]) -> None:
    port = ports["granian", proxy]
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


def test_health_is_published_and_paths_of_monitoring_are_not(proxy: str, ports: dict[tuple[str, str], int]) -> None:
    port = ports["granian", proxy]
    unrouted = 503 if proxy == "ingress" else 404  # a Service without pods

    assert send(port, "GET", "/healthz").status == 200
    for path, status in {"/metrics": 404, "/readyz": unrouted, "/readyz?exclude=worker": unrouted}.items():
        response = send(port, "GET", path)

        assert response.status == status, path
        assert "checks" not in response.text, path


def test_each_client_has_a_limit_of_its_own_behind_the_proxy(port: int) -> None:
    first = [send_from(client, port) for client in CLIENTS]
    second = [send_from(client, port) for client in CLIENTS]

    assert second == [(200, remaining - 1) for _, remaining in first]


def test_no_shape_of_headers_changes_the_counted_address(port: int) -> None:
    _, remaining = send_from("127.0.0.2", port)

    for number, headers in enumerate(SHAPES, start=1):
        assert send_from("127.0.0.2", port, headers) == (200, remaining - number), headers


SECRET = "0123456789-a-secret"
WITH_SECRETS = {  # addresses with a credential: of previews, streams, passwords and uploads
    "/previews": "token", "/posts": "preview", "/events/stream": "ticket", "/admin/password/link": "token",
    "/uploads/7": "signature", "/graphql": "query",
}  # fmt: skip


def test_no_log_of_a_proxy_contains_a_secret_of_an_address(hosts: dict[str, Host], proxy: str, tmp_path: Path) -> None:
    closed = find_free_port()
    for name, upstream in {"running": hosts["granian"].port, "away": closed}.items():
        with PROXIES[proxy](upstream, tmp_path / name) as port:
            for path, parameter in WITH_SECRETS.items():
                address = f"{path}?{parameter}={SECRET}"
                send(port, "GET", address, X_API_Key=SECRET, Referer=f"https://www.example.com{address}")
                send(port, "PUT", address, {}, Authorization=f"Bearer {SECRET}")

        logs = {path.name: path.read_text() for path in (tmp_path / name).glob("*.log")}
        assert [log for log, text in logs.items() if SECRET in text] == []
        assert all(path in "".join(logs.values()) for path in WITH_SECRETS)


@pytest.mark.parametrize("start", [start_caddy, start_nginx_with_media])
def test_proxy_delivers_the_files_of_images(
    tmp_path: Path, start: Callable[[int, Path], AbstractContextManager[int]]
) -> None:
    name = f"media/7-{'0' * 32}/320.webp"
    (tmp_path / "media" / name).parent.mkdir(parents=True)
    (tmp_path / "media" / name).write_text("boat")

    with start(find_free_port(), tmp_path) as port:
        found = send(port, "GET", f"/{name}")
        beyond = send(port, "GET", f"/{name}", Range="bytes=99-")

    assert beyond.status == 416
    assert "immutable" not in beyond.headers.get("cache-control", "")
    assert (found.status, found.text, found.headers["content-type"]) == (200, "boat", "image/webp")
    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-security-policy"] == "sandbox"
