"""CORS on the fast path: a response has exactly the headers that django-cors-headers adds for its `Origin`."""

import re
from typing import Any

import pytest
from corsheaders.signals import check_request_enabled
from django.core.handlers.wsgi import WSGIHandler
from pytest_django import Settings

from contentapi.rate_limits.account import COUNTERS
from contentapi.server.fast_path import FastPath, is_eligible_for_fast_path
from tests.contentapi.server.fast_path_requests import (
    FailingDjango,
    build_environ,
    call_application,
    normalize_response,
)
from tests.factories import make_post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_connections")]

ALLOWED = "https://www.example.com"
ORIGINS = [
    ALLOWED,
    "https://elsewhere.invalid",
    "http://www.example.com",
    f"{ALLOWED}:443",
    f"{ALLOWED}.elsewhere.invalid",
    ALLOWED.upper(),
    "null",
    "",
    "https://[::1",  # urlsplit raises ValueError
    "not an origin",
    "https://sub.example.org",
    "é",
    None,
]
REQUESTS: dict[str, dict[str, Any]] = {
    "a query": {},
    "a query that fails": {"body": b'{"query": "{ nothing }"}'},
    "a credential that fails": {"HTTP_AUTHORIZATION": "Bearer x"},
    "a resource": {"REQUEST_METHOD": "GET", "PATH_INFO": "/posts"},
    "a missing resource": {"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/posts/0"},
    "a method that is not allowed": {"REQUEST_METHOD": "PATCH", "PATH_INFO": "/posts"},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "an allow-list": {"CORS_ALLOWED_ORIGINS": [ALLOWED]},
    "nothing allowed": {"CORS_ALLOWED_ORIGINS": []},
    "null allowed": {"CORS_ALLOWED_ORIGINS": [ALLOWED, "null"]},
    "credentials": {"CORS_ALLOWED_ORIGINS": [ALLOWED], "CORS_ALLOW_CREDENTIALS": True},
    "all origins": {"CORS_ALLOW_ALL_ORIGINS": True},
    "all origins with credentials": {"CORS_ALLOW_ALL_ORIGINS": True, "CORS_ALLOW_CREDENTIALS": True},
    "a pattern": {"CORS_ALLOWED_ORIGIN_REGEXES": [re.compile(r"^https://\w+\.example\.org$")]},
    "no exposed headers": {"CORS_ALLOWED_ORIGINS": [ALLOWED], "CORS_EXPOSE_HEADERS": []},
    "other exposed headers": {"CORS_ALLOWED_ORIGINS": [ALLOWED], "CORS_EXPOSE_HEADERS": ["etag", "x-other"]},
    "other URLs": {"CORS_ALLOWED_ORIGINS": [ALLOWED], "CORS_URLS_REGEX": r"^/nowhere"},
    "private networks": {"CORS_ALLOWED_ORIGINS": [ALLOWED], "CORS_ALLOW_PRIVATE_NETWORK": True},
}


def add_origin(request: dict[str, Any], origin: str | None) -> dict[str, Any]:
    request_environ = build_environ(**request)
    return request_environ if origin is None else {**request_environ, "HTTP_ORIGIN": origin}


@pytest.mark.parametrize(
    ("configuration", "request_name"),
    [
        *((configuration, "a query") for configuration in SETTINGS),
        *(("an allow-list", name) for name in REQUESTS if name != "a query"),
    ],
)
def test_fast_path_and_django_respond_equally_to_every_origin(
    settings: Settings, configuration: str, request_name: str
) -> None:
    for name, value in SETTINGS[configuration].items():
        setattr(settings, name, value)
    make_post(title="Soup")
    fast_path, django = FastPath(FailingDjango()), WSGIHandler()

    for origin in ORIGINS:
        responses = []
        for application in (django, fast_path, fast_path):  # the second time from the cache
            COUNTERS.clear()
            responses.append(call_application(application, add_origin(REQUESTS[request_name], origin)))
        by_django, first, cached = map(normalize_response, responses)

        assert first == cached == by_django, origin


@pytest.mark.parametrize("path", ["/graphql", "/posts"])
@pytest.mark.parametrize("origin", [ALLOWED, "https://elsewhere.invalid"])
def test_django_cors_headers_responds_to_preflights(settings: Settings, path: str, origin: str) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ALLOWED]
    request = build_environ(
        b"",
        REQUEST_METHOD="OPTIONS",
        PATH_INFO=path,
        HTTP_ORIGIN=origin,
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST",
        HTTP_ACCESS_CONTROL_REQUEST_HEADERS="content-type, traceparent",
    )

    status, headers, _ = call_application(FastPath(WSGIHandler()), request)

    named = dict(headers)
    assert status == "200 OK"
    assert named.get("access-control-allow-origin") == (ALLOWED if origin == ALLOWED else None)
    if origin == ALLOWED:
        assert "traceparent" in named["access-control-allow-headers"]


def test_receiver_of_the_cors_signal_sees_every_origin() -> None:
    def allow(**_: Any) -> bool:
        return True

    check_request_enabled.connect(allow)
    try:
        assert not is_eligible_for_fast_path(build_environ(HTTP_ORIGIN=ALLOWED))
        assert is_eligible_for_fast_path(build_environ())
    finally:
        check_request_enabled.disconnect(allow)


def test_cache_of_headers_is_bounded_and_keeps_accepted_hosts_only(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [".example.com"]
    fast_path = FastPath(FailingDjango())
    fast_path.shared.limit = 10

    weights = {}
    for host in ("example.invalid", "a.example.com"):
        for number in range(12):
            fast_path.find_shared_headers(build_environ(HTTP_HOST=host, HTTP_ORIGIN=f"https://{number}.example"))
        weights[host] = fast_path.shared.weight

    assert weights == {"example.invalid": 0, "a.example.com": 10}


def test_learning_an_origin_is_not_charged_to_the_client() -> None:
    fast_path = FastPath(FailingDjango())

    _, headers, _ = call_application(fast_path, build_environ(HTTP_ORIGIN=ALLOWED))

    assert [value for name, value in headers if name == "RateLimit"] == ['"anonymous";r=299;t=60']
