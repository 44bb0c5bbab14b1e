"""The front door: what it answers itself is what Django would have answered, header for header."""

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

from contentapi import rate_limits
from contentapi.server.fast_path import FastPath, is_eligible
from tests.factories import make_post

pytestmark = pytest.mark.django_db

Answer = tuple[str, list[tuple[str, str]], bytes]
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
    """Lets the front door learn its headers, and then wants no request."""

    def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ARG002
        raise AssertionError(f"{environ['PATH_INFO']} was handed to Django.")


@pytest.fixture(autouse=True)
def kept_connections(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Keep the test's transaction: Django closes connections in one, and its test client keeps it from that too."""
    looked_after: list[bool] = []
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: looked_after.append(True))
    return looked_after


@pytest.fixture
def through_the_door() -> FastPath:
    return FastPath(NoDjango())


@pytest.fixture
def through_django() -> WSGIHandler:
    return WSGIHandler()


def answer_of(application: Any, request: dict[str, Any]) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    parts: Iterable[bytes] = application(request, lambda status, headers: started.append((status, headers)))
    [(status, headers)] = started
    assert len({name.lower() for name, _ in headers}) == len(headers)
    return status, headers, b"".join(parts)


def comparable(answer: Answer) -> tuple[int, dict[str, str], Any]:
    status, headers, body = answer
    named = dict(headers)
    request_id = named.pop("X-Request-ID")
    named.pop("Content-Length", None)
    content = body.decode().replace(request_id, "the request's id")
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
def test_an_answer_is_what_django_would_have_answered(
    through_the_door: FastPath, through_django: WSGIHandler, changes: dict[str, Any]
) -> None:
    make_post(title="Soup")

    direct = answer_of(through_the_door, environ(**changes))
    rate_limits.reset_counters()
    by_django = answer_of(through_django, environ(**changes))

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
def test_an_answer_for_a_resource_is_what_django_would_have_answered(
    through_the_door: FastPath, through_django: WSGIHandler, method: str, path: str, changes: dict[str, Any]
) -> None:
    path = path.format(post=make_post(title="Soup").pk)
    request: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, **changes}

    direct = answer_of(through_the_door, environ(**request))
    rate_limits.reset_counters()
    by_django = answer_of(through_django, environ(**request))

    assert comparable(direct) == comparable(by_django)
    assert dict(direct[1]).get("Content-Length") == dict(by_django[1]).get("Content-Length")


def test_learning_the_headers_counts_no_request_and_learns_no_rates() -> None:
    door = FastPath(NoDjango())

    _, headers, _ = answer_of(door, environ())

    assert [value for name, value in headers if name == "RateLimit"] == ['"anonymous";r=299;t=60']


def test_the_security_headers_are_there(through_the_door: FastPath) -> None:
    _, headers, _ = answer_of(through_the_door, environ())

    assert {"nosniff", "DENY", "same-origin", "origin"} <= {value for _, value in headers}


def test_two_requests_have_two_ids(through_the_door: FastPath) -> None:
    ids = {dict(answer_of(through_the_door, environ())[1])["X-Request-ID"] for _ in range(2)}

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
def test_all_else_is_djangos(changes: dict[str, Any]) -> None:
    door = FastPath(NoDjango())
    answer_of(door, environ())

    with pytest.raises(AssertionError, match="was handed to Django"):
        answer_of(door, environ(**changes))


def test_a_host_is_ours_as_long_as_the_settings_say_so(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["a.invalid"]
    assert is_eligible(environ(HTTP_HOST="a.invalid:80"))

    settings.ALLOWED_HOSTS = ["b.invalid"]

    assert not is_eligible(environ(HTTP_HOST="a.invalid:80"))


def test_a_host_that_is_none_is_djangos_also_where_all_hosts_are_welcome(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]

    assert is_eligible(environ(HTTP_HOST="any.invalid"))
    assert not is_eligible(environ(HTTP_HOST="a b<"))


def test_a_server_whose_endpoint_does_not_work_does_not_start(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True  # and no HTTPS: every request is sent elsewhere

    with pytest.raises(RuntimeError, match="responds to a first request with 301"):
        FastPath(NoDjango())


class Broken(io.BytesIO):
    def read(self, *_: Any) -> bytes:
        raise OSError("the chunk's size is ZZZ")


def test_a_body_that_cannot_be_read_is_the_clients_fault(through_the_door: FastPath) -> None:
    changes: dict[str, Any] = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": Broken()}

    status, _, body = answer_of(through_the_door, environ(**changes))

    [error] = json.loads(body)["errors"]
    assert (status, error["message"]) == ("400 Bad Request", "The body could not be read completely.")


def test_without_the_tls_it_should_have_a_request_is_djangos_to_redirect(settings: Any) -> None:
    settings.HTTPS = True

    assert not is_eligible(environ())
    assert is_eligible(environ(HTTP_X_FORWARDED_PROTO="https"))


def test_a_forgotten_host_is_refused_by_django(through_django: WSGIHandler) -> None:
    status, _, _ = answer_of(FastPath(through_django), environ(HTTP_HOST="elsewhere.invalid"))

    assert status.startswith("400")


def test_behind_tls_the_answer_asks_browsers_to_stay_there(settings: Any) -> None:
    settings.HTTPS = True
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    _, headers, _ = answer_of(FastPath(NoDjango()), environ(HTTP_X_FORWARDED_PROTO="https"))

    assert dict(headers)["Strict-Transport-Security"].startswith("max-age=60")


def test_connections_are_looked_after_as_django_does(through_the_door: FastPath, kept_connections: list[bool]) -> None:
    answer_of(through_the_door, environ())

    assert kept_connections


@pytest.mark.parametrize("codec", ["rot13", "zlib", "idna", "undefined", "punycode", "utf-16", "utf-7", "hex", "none"])
@pytest.mark.parametrize(
    "path", ["oauth/token", "oauth/introspect", "oauth/authorize", "oauth/login", "graphql", "none"]
)
def test_no_codec_that_a_client_names_is_let_near_its_words(path: str, codec: str) -> None:
    content_type = f"application/x-www-form-urlencoded; charset={codec}"
    application = FastPath(WSGIHandler())

    for method in ("GET", "POST"):
        request = environ(b"x=%41%ff", REQUEST_METHOD=method, PATH_INFO=f"/{path}", QUERY_STRING="a=%41%ff")
        status, *_ = answer_of(application, {**request, "CONTENT_TYPE": content_type})

        assert int(status[:3]) < 500


def test_an_endless_content_type_is_none() -> None:
    request = environ(b"x=1", PATH_INFO="/oauth/token", CONTENT_TYPE=f"text/plain; {'a=b; ' * 5000}")

    status, *_ = answer_of(FastPath(WSGIHandler()), request)

    assert status.startswith("415")
