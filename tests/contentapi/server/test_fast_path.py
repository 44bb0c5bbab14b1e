"""The fast path: its responses equal those of Django, header by header."""

import io
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import connection

from contentapi import rate_limits
from contentapi.core.errors import Unavailable
from contentapi.server.fast_path import FastPath, is_eligible_for_fast_path
from tests.factories import make_post

pytestmark = pytest.mark.django_db

Response = tuple[str, list[tuple[str, str]], bytes]
ALIVE = b'{"query": "{ __typename }"}'


def environ(body: bytes = ALIVE, **changes: Any) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/graphql",
        "SCRIPT_NAME": "",
        "HTTP_HOST": "localhost:8000",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        **changes,
    }


class NoDjango(WSGIHandler):
    """Lets the fast path learn its headers, and fails for every other request."""

    def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ARG002
        raise AssertionError(f"{environ['PATH_INFO']} was passed to Django.")


@pytest.fixture(autouse=True)
def kept_connections(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Keep the test's connection open for its transaction, as Django's test client does. Return the calls."""
    calls: list[bool] = []
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: calls.append(True))
    return calls


@pytest.fixture
def fast_path() -> FastPath:
    return FastPath(NoDjango())


@pytest.fixture
def django() -> WSGIHandler:
    return WSGIHandler()


def respond(application: Callable[..., Iterable[bytes]], request: dict[str, Any]) -> Response:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    parts: Iterable[bytes] = application(
        request, start_response=lambda status, headers: started.append((status, headers))
    )
    [(status, headers)] = started
    assert len({name.lower() for name, _ in headers}) == len(headers)
    return status, headers, b"".join(parts)


def comparable(response: Response) -> tuple[int, dict[str, str], Any]:
    status, headers, body = response
    named = dict(headers)
    request_id = named.pop("X-Request-ID")
    named.pop("Content-Length", None)
    content = body.decode().replace(request_id, "request-id")
    return int(status.split()[0]), named, json.loads(content) if content else None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"body": b'{"query": "{ posts { title author { name } } nothing }"}'},
        {"body": b'{"query": "{ posts(limit: 0) { id } }"}'},
        {"body": b'{"query": "{ __typename posts { id } post(id: 0) { comments(limit: 0) { id } } }"}'},
        {"body": b'{"query": "mutation { createPost(input: {title: \\"a\\", body: \\"b\\"}) { id } }"}'},
        {"body": b"\xff{"},
        {"body": b"[]"},
        {"body": b""},
        {"body": b'{"query": "{ __typename }"}' + b" " * 1024 * 1024},
        {"HTTP_ACCEPT": "application/graphql-response+json, application/json;q=0.5"},
        {"HTTP_ACCEPT": "text/html"},
        {"CONTENT_TYPE": ""},
        {"CONTENT_TYPE": "text/plain"},
        {"CONTENT_TYPE": "application/json; charset=latin-1"},
        {"CONTENT_TYPE": "Application/JSON; charset=UTF-8"},
        {"HTTP_X_API_KEY": "no key"},
        {"HTTP_AUTHORIZATION": "Bearer no.to.ken"},
        {"HTTP_X_API_KEY": "no key", "HTTP_AUTHORIZATION": "Bearer no.to.ken"},
        {"HTTP_HOST": "127.0.0.1"},
    ],
    ids=str,
)
def test_response_of_graphql_equals_djangos(fast_path: FastPath, django: WSGIHandler, changes: dict[str, Any]) -> None:
    make_post(title="Soup")

    direct = respond(fast_path, environ(**changes))
    rate_limits.reset_counters()
    by_django = respond(django, environ(**changes))

    assert comparable(direct) == comparable(by_django)
    assert dict(direct[1])["Content-Length"] == str(len(direct[2]))


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PATCH", "DELETE", "PUT"])
@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("/posts", {}),
        ("/posts", {"QUERY_STRING": "limit=1&tag=%C3%A9"}),
        ("/v1/posts", {"QUERY_STRING": "limit=0", "HTTP_ACCEPT": "application/problem+json"}),
        ("/posts/{post}", {}),
        ("/posts/{post}", {"HTTP_ACCEPT": "application/vnd.contentapi.v1+json"}),
        ("/posts/{post}", {"HTTP_IF_NONE_MATCH": "*"}),
        ("/v1/posts/{post}", {"HTTP_X_API_KEY": "no key"}),
        ("/posts/{post}/comments", {"HTTP_X_API_VERSION": "2"}),
        ("/posts/0", {}),
    ],
    ids=str,
)
def test_response_of_a_resource_equals_djangos(
    fast_path: FastPath, django: WSGIHandler, method: str, path: str, changes: dict[str, Any]
) -> None:
    path = path.format(post=make_post(title="Soup").pk)
    request: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, **changes}

    direct = respond(fast_path, environ(**request))
    rate_limits.reset_counters()
    by_django = respond(django, environ(**request))

    assert comparable(direct) == comparable(by_django)
    assert dict(direct[1]).get("Content-Length") == dict(by_django[1]).get("Content-Length")


def test_learning_headers_is_not_charged_and_learns_no_rate_limit() -> None:
    fast_path = FastPath(NoDjango())

    _, headers, _ = respond(fast_path, environ())

    assert [value for name, value in headers if name == "RateLimit"] == ['"anonymous";r=299;t=60']


def test_response_has_the_security_headers(fast_path: FastPath) -> None:
    _, headers, _ = respond(fast_path, environ())

    assert {"nosniff", "DENY", "same-origin", "origin"} <= {value for _, value in headers}


def test_two_requests_get_two_ids(fast_path: FastPath) -> None:
    ids = {dict(respond(fast_path, environ())[1])["X-Request-ID"] for _ in range(2)}

    assert len(ids) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"REQUEST_METHOD": "GET"},
        {"REQUEST_METHOD": "OPTIONS"},
        {"PATH_INFO": "/graphql/"},
        {"PATH_INFO": "/admin/"},
        {"PATH_INFO": "/"},
        {"PATH_INFO": "/nowhere"},
        {"PATH_INFO": "/v2/posts"},
        {"PATH_INFO": "/posts/"},
        {"PATH_INFO": "/posts/\xc3\xa9"},
        {"PATH_INFO": "/posts", "REQUEST_METHOD": "OPTIONS", "HTTP_ORIGIN": "https://www.example.com"},
        {"PATH_INFO": "/posts", "HTTP_HOST": "elsewhere.invalid"},
        {"HTTP_ORIGIN": f"https://{'a' * 250}.example"},
        {"HTTP_ORIGIN": "https://www.example.com", "HTTP_ACCESS_CONTROL_REQUEST_PRIVATE_NETWORK": "true"},
        {"HTTP_HOST": "elsewhere.invalid"},
        {"HTTP_HOST": ""},
    ],
    ids=str,
)
def test_other_requests_go_through_django(changes: dict[str, Any]) -> None:
    fast_path = FastPath(NoDjango())
    respond(fast_path, environ())

    with pytest.raises(AssertionError, match="was passed to Django"):
        respond(fast_path, environ(**changes))


def test_host_is_checked_against_the_current_settings(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["a.invalid"]
    assert is_eligible_for_fast_path(environ(HTTP_HOST="a.invalid:80"))

    settings.ALLOWED_HOSTS = ["b.invalid"]

    assert not is_eligible_for_fast_path(environ(HTTP_HOST="a.invalid:80"))


def test_invalid_host_goes_through_django_even_if_all_hosts_are_allowed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]

    assert is_eligible_for_fast_path(environ(HTTP_HOST="any.invalid"))
    assert not is_eligible_for_fast_path(environ(HTTP_HOST="a b<"))


def test_start_fails_if_the_endpoint_does_not_work(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True  # without HTTPS: every request is redirected

    with pytest.raises(RuntimeError, match="responds to a first request with 301"):
        FastPath(NoDjango())


class Broken(io.BytesIO):
    def read(self, *_: Any) -> bytes:
        raise OSError("the chunk's size is ZZZ")


def test_unreadable_body_is_400(fast_path: FastPath) -> None:
    changes: dict[str, Any] = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": Broken()}

    status, _, body = respond(fast_path, environ(**changes))

    [error] = json.loads(body)["errors"]
    assert (status, error["message"]) == ("400 Bad Request", "The body could not be read completely.")


def test_request_without_required_tls_goes_through_django(settings: Any) -> None:
    settings.HTTPS = True

    assert not is_eligible_for_fast_path(environ())
    assert is_eligible_for_fast_path(environ(HTTP_X_FORWARDED_PROTO="https"))


def test_unknown_host_is_400_by_django(django: WSGIHandler) -> None:
    status, _, _ = respond(FastPath(django), environ(HTTP_HOST="elsewhere.invalid"))

    assert status.startswith("400")


def test_response_behind_tls_has_strict_transport_security(settings: Any) -> None:
    settings.HTTPS = True
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    _, headers, _ = respond(FastPath(NoDjango()), environ(HTTP_X_FORWARDED_PROTO="https"))

    assert dict(headers)["Strict-Transport-Security"].startswith("max-age=60")


def test_unusable_connections_are_closed_as_by_django(fast_path: FastPath, kept_connections: list[bool]) -> None:
    respond(fast_path, environ())

    assert kept_connections


@pytest.mark.parametrize("codec", ["rot13", "zlib", "idna", "undefined", "punycode", "utf-16", "utf-7", "hex", "none"])
@pytest.mark.parametrize(
    "path", ["oauth/token", "oauth/introspect", "oauth/authorize", "oauth/login", "graphql", "none"]
)
def test_charset_of_a_content_type_never_causes_a_500(path: str, codec: str) -> None:
    content_type = f"application/x-www-form-urlencoded; charset={codec}"
    application = FastPath(WSGIHandler())

    for method in ("GET", "POST"):
        request = environ(b"x=%41%ff", REQUEST_METHOD=method, PATH_INFO=f"/{path}", QUERY_STRING="a=%41%ff")
        status, *_ = respond(application, {**request, "CONTENT_TYPE": content_type})

        assert int(status[:3]) < 500


def test_content_type_of_25_kilobytes_is_415() -> None:
    request = environ(b"x=1", PATH_INFO="/oauth/token", CONTENT_TYPE=f"text/plain; {'a=b; ' * 5000}")

    status, *_ = respond(FastPath(WSGIHandler()), request)

    assert status.startswith("415")


class Django(WSGIHandler):
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
    django = Django()
    fast_path = FastPath(django, is_enabled=False)
    django.is_starting = False

    responses = [
        respond(fast_path, environ()),
        respond(fast_path, environ(REQUEST_METHOD="GET", PATH_INFO="/posts")),
        respond(fast_path, environ(HTTP_ORIGIN="https://www.example.com")),
    ]

    assert django.paths == ["/graphql", "/posts", "/graphql"]
    assert [status for status, _, _ in responses] == ["200 OK"] * 3


@pytest.mark.parametrize("path", ["/graphql", "/posts", "/admin/"])
@pytest.mark.parametrize("origin", [{}, {"HTTP_ORIGIN": "https://www.example.com"}], ids=["no origin", "origin"])
def test_disabled_fast_path_refuses_like_the_enabled_one(settings: Any, path: str, origin: dict[str, Any]) -> None:
    settings.CORS_ALLOWED_ORIGINS = ["https://www.example.com"]

    def refuse(*, is_enabled: bool) -> Response:
        rate_limits.reset_counters()
        fast_path = FastPath(WSGIHandler(), is_enabled=is_enabled)
        return respond(partial(fast_path.refuse, error=Unavailable()), environ(PATH_INFO=path, **origin))

    enabled, disabled = refuse(is_enabled=True), refuse(is_enabled=False)

    assert comparable(enabled) == comparable(disabled)
    assert disabled[0] == "503 Service Unavailable"


def receive_signal(**_: Any) -> None:
    raise AssertionError("A request of the fast path sends no signal.")


@pytest.mark.parametrize("signal", [request_started, request_finished], ids=["request_started", "request_finished"])
def test_receiver_of_a_request_signal_stops_the_start_of_the_fast_path(signal: Any) -> None:
    signal.connect(receive_signal)
    try:
        with pytest.raises(
            RuntimeError, match=r"receive_signal receives the signal request_.*CONTENTAPI_FAST_PATH=off"
        ):
            FastPath(NoDjango())
        FastPath(NoDjango(), is_enabled=False)
    finally:
        signal.disconnect(receive_signal)
