"""Requests that go through Django, and the fast path when it is disabled or cannot start."""

from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from contentapi.core.errors import Unavailable
from contentapi.rate_limits.account import COUNTERS
from contentapi.server.fast_path import FastPath, is_eligible_for_fast_path
from tests.contentapi.server.fast_path_requests import (
    FailingDjango,
    Response,
    build_environ,
    call_application,
    normalize_response,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_connections")]


@pytest.mark.parametrize(
    "changes",
    [
        {"REQUEST_METHOD": "GET", "HTTP_ACCEPT": "application/json;q=0.5, Text/HTML"},
        {"REQUEST_METHOD": "HEAD", "HTTP_ACCEPT": "*/html"},
        {"REQUEST_METHOD": "PUT"},
        {"PATH_INFO": "/graphql/"},
        {"PATH_INFO": "/nowhere"},
        {"PATH_INFO": "/posts/"},
        {"PATH_INFO": "/posts/\xc3\xa9"},
        {"PATH_INFO": "/posts", "REQUEST_METHOD": "OPTIONS", "HTTP_ORIGIN": "https://www.example.com"},
        {"PATH_INFO": "/posts", "HTTP_HOST": "elsewhere.invalid"},
        {"HTTP_ORIGIN": f"https://{'a' * 250}.example"},
        {"HTTP_ORIGIN": "https://www.example.com", "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK": "true"},
        {"HTTP_HOST": "elsewhere.invalid"},
    ],
    ids=str,
)
def test_other_requests_go_through_django(changes: dict[str, Any]) -> None:
    fast_path = FastPath(FailingDjango())
    call_application(fast_path, build_environ())

    with pytest.raises(AssertionError, match="was passed to Django"):
        call_application(fast_path, build_environ(**changes))


def test_host_is_checked_against_the_current_settings(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["a.invalid"]
    assert is_eligible_for_fast_path(build_environ(HTTP_HOST="a.invalid:80"))

    settings.ALLOWED_HOSTS = ["b.invalid"]

    assert not is_eligible_for_fast_path(build_environ(HTTP_HOST="a.invalid:80"))


def test_invalid_host_goes_through_django_even_if_all_hosts_are_allowed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]

    assert is_eligible_for_fast_path(build_environ(HTTP_HOST="any.invalid"))
    assert not is_eligible_for_fast_path(build_environ(HTTP_HOST="a b<"))


def test_start_fails_if_the_endpoint_does_not_work(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True  # without HTTPS: every request is redirected

    with pytest.raises(RuntimeError, match="responds to a first request with 301"):
        FastPath(FailingDjango())


def test_request_without_required_tls_goes_through_django(settings: Any) -> None:
    settings.HTTPS = True

    assert not is_eligible_for_fast_path(build_environ())
    assert is_eligible_for_fast_path(build_environ(HTTP_X_FORWARDED_PROTO="https"))


class RecordingDjango(WSGIHandler):
    """Records the requests that it gets, and refuses the sample request that teaches headers while `is_starting`."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []
        self.is_starting = True

    def __call__(self, environ: Any, start_response: Any) -> Any:
        self.paths.append(environ["PATH_INFO"])
        return super().__call__(environ, start_response)

    def get_response(self, request: Any) -> Any:
        assert not self.is_starting
        return super().get_response(request)


def test_disabled_fast_path_learns_nothing_and_passes_all_requests_to_django() -> None:
    django = RecordingDjango()
    fast_path = FastPath(django, is_enabled=False)
    django.is_starting = False

    responses = [
        call_application(fast_path, build_environ()),
        call_application(fast_path, build_environ(REQUEST_METHOD="GET", PATH_INFO="/posts")),
        call_application(fast_path, build_environ(HTTP_ORIGIN="https://www.example.com")),
    ]

    assert django.paths == ["/graphql", "/posts", "/graphql"]
    assert [status for status, _, _ in responses] == ["200 OK"] * 3


@pytest.mark.parametrize("path", ["/graphql", "/posts", "/admin/"])
@pytest.mark.parametrize("origin", [{}, {"HTTP_ORIGIN": "https://www.example.com"}], ids=["no origin", "origin"])
def test_disabled_fast_path_refuses_like_the_enabled_one(settings: Any, path: str, origin: dict[str, Any]) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://www.example.com"]

    def refuse(*, is_enabled: bool) -> Response:
        COUNTERS.clear()
        fast_path = FastPath(WSGIHandler(), is_enabled=is_enabled)
        request = build_environ(PATH_INFO=path, **origin)
        return call_application(lambda *call: fast_path.refuse(call[0], Unavailable(), call[1]), request)

    enabled, disabled = refuse(is_enabled=True), refuse(is_enabled=False)

    assert normalize_response(enabled) == normalize_response(disabled)
    assert disabled[0] == "503 Service Unavailable"
