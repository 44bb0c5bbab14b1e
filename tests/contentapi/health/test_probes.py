"""/healthz and /readyz, which the WSGI application answers before Django."""

import json
from collections.abc import Iterator
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client
from pytest_django import Settings

from contentapi.db.statements import execute
from contentapi.health.readiness import get_readiness
from contentapi.health.results import Results
from contentapi.server.complete_requests import RequestBufferingLayer
from tests.contentapi.health.commits import commit
from tests.environment import set_environment
from tests.wsgi import WsgiResponse, call_application

pytestmark = pytest.mark.usefixtures("no_heartbeat")
PATHS = ("/healthz", "/readyz")


@pytest.fixture(autouse=True)
def new_checks() -> Iterator[None]:
    """Begin and end each test without cached results, which a test of another file would meet."""
    get_readiness.cache_clear()
    yield
    get_readiness.cache_clear()


def never_called(*_: Any) -> Any:
    raise AssertionError("A probe must not reach the application.")


def call(method: str, path: str, **changes: Any) -> WsgiResponse:
    layer = RequestBufferingLayer(never_called, never_called, slots=1)
    return call_application(layer, method, path, **changes)


def outdate_worker() -> None:
    commit(
        "INSERT INTO contentapi_jobheartbeat VALUES ('imports', now() - interval '1 hour', now() - interval '1 hour')"
    )


@pytest.mark.parametrize("path", PATHS)
def test_probe_responds_for_any_host(path: str) -> None:
    for host in ("evil.example", "", "10.0.0.1:8000"):
        response = call("GET", path, HTTP_HOST=host, QUERY_STRING="a=b&c")

        assert response.status == 200, host
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Content-Type"] == "application/json"
        assert len(response.headers["X-Request-ID"]) == 32
        assert int(response.headers["Content-Length"]) == len(response.content)


def test_results_name_each_check() -> None:
    checks = json.loads(call("GET", "/readyz").content)

    assert checks == {
        "status": "ready",
        "checks": {
            "database": {"status": "ok"},
            "migrations": {"status": "ok"},
            "worker": {"status": "skipped", "reason": "No worker has run on this database."},
            "media": {"status": "ok"},
            "keys": {"status": "ok"},
        },
    }


def test_failure_is_503_with_its_reason_and_retry_after() -> None:
    outdate_worker()

    response = call("GET", "/readyz")

    assert (response.status, response.headers["Retry-After"]) == (503, "5")
    content = json.loads(response.content)
    assert content["status"] == "not ready"
    assert content["checks"]["worker"]["status"] == "failed"
    assert "No worker process has been alive for 36" in content["checks"]["worker"]["reason"]
    assert content["checks"]["database"] == {"status": "ok"}


@pytest.mark.parametrize("query", ["exclude=worker", "exclude=redis,worker", "x=1&exclude=redis&exclude=worker"])
def test_excluded_failure_is_a_warning(query: str) -> None:
    outdate_worker()

    response = call("GET", "/readyz", QUERY_STRING=query)

    assert response.status == 200
    assert json.loads(response.content)["checks"]["worker"]["status"] == "warning"
    assert call("GET", "/readyz", QUERY_STRING="exclude=redis&worker").status == 503


@pytest.mark.parametrize("path", PATHS)
def test_head_has_the_headers_without_the_body(path: str) -> None:
    response = call("HEAD", path)

    assert (response.status, response.content) == (200, b"")
    assert int(response.headers["Content-Length"]) > 0


@pytest.mark.parametrize("path", PATHS)
def test_other_methods_are_405_with_allow(path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        response = call(method, path, body=b"{}")

        assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD"), method


def test_server_whose_slots_are_all_in_use_responds_at_once() -> None:
    layer = RequestBufferingLayer(never_called, never_called, slots=1)
    layer.slots.enter()

    statuses = [call_application(layer, "GET", path).status for path in PATHS]  # a request would wait and get 503

    assert statuses == [200, 200]


@pytest.mark.parametrize("path", PATHS)
def test_probe_needs_no_host_tls_or_rate(path: str, settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = settings.HTTPS = True
    set_environment(settings, CONTENTAPI_RATE_ANONYMOUS="1/hour")

    responses = [call("GET", path, HTTP_HOST="evil.example") for _ in range(3)]

    assert [response.status for response in responses] == [200, 200, 200]
    assert {"RateLimit", "Location", "Set-Cookie"}.isdisjoint(responses[0].headers)
    assert len(responses[0].headers["X-Request-ID"]) == 32
    assert call("HEAD", path).content == b""
    assert call("POST", path).status == 405


def test_other_paths_are_404() -> None:
    """Django's test client would take the name after two slashes for a host."""
    django = WSGIHandler()
    for path in ("/metrics", "/healthz/", "/readyz/x", "//healthz"):
        assert call_application(django, "GET", path).status == 404, path


def test_many_probes_cost_the_database_one_check(django_assert_num_queries: Any) -> None:
    check = get_readiness().checks[0]
    runs: list[float] = []
    run = check.run

    def count_and_run() -> Results:
        runs.append(monotonic())
        return run()

    check.run = count_and_run
    threads = [Thread(target=lambda: [call("GET", "/readyz") for _ in range(20)]) for _ in range(4)]
    with django_assert_num_queries(0):
        start = monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check.run = run

    assert len(runs) <= 1 + (monotonic() - start)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("damage", "repair"),
    [
        ("ALTER TABLE blog_post RENAME TO away", "ALTER TABLE away RENAME TO blog_post"),
        ("ALTER TABLE blog_post RENAME title TO away", "ALTER TABLE blog_post RENAME away TO title"),
    ],
)
@pytest.mark.parametrize(("is_applied", "status", "code"), [(False, 503, "UNAVAILABLE"), (True, 500, "INTERNAL")])
def test_missing_table_is_503_only_if_a_migration_is_missing(
    *, damage: str, repair: str, is_applied: bool, status: int, code: str
) -> None:
    execute(damage)
    if not is_applied:
        execute("UPDATE django_migrations SET app = 'away' WHERE app = 'blog'")
    try:
        rest = Client().get("/posts")
        graphql = Client().post("/graphql", {"query": "{ posts { title } }"}, content_type="application/json")
    finally:
        execute(repair)
        execute("UPDATE django_migrations SET app = 'blog' WHERE app = 'away'")

    assert (rest.status_code, rest.headers["X-Error-Code"]) == (status, code)
    assert graphql.json()["errors"][0]["extensions"]["code"] == code
    assert (graphql.status_code, rest.headers.get("Retry-After")) == (status, None if is_applied else "5")
