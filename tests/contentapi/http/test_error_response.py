"""Error responses over WSGI, from every part of the server, in both formats and with their headers."""

import json
from functools import cache, partial
from typing import Any

import msgspec
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from hypothesis import given as each
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from contentapi.core.errors import Unavailable
from contentapi.core.identity import Role
from contentapi.db.statements import execute
from contentapi.rate_limits.account import COUNTERS
from contentapi.server.fast_path import FastPath
from contentapi.server.observed_requests import observe_request
from tests.challenges import build_challenge
from tests.conftest import make_api_key
from tests.factories import make_actor, make_author, make_post
from tests.wsgi import WsgiResponse, call_application

PROBLEM = "application/problem+json"
MEMBERS = ["type", "title", "status", "detail", "errors", "requestId"]


@pytest.fixture(autouse=True)
def kept_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the test's transaction, which Django would close with a connection that has failed in it."""
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)


@cache
def get_application() -> FastPath:
    return FastPath(WSGIHandler())


def send_request(method: str, path: str, body: bytes = b"", **changes: Any) -> WsgiResponse:
    return call_application(partial(observe_request, get_application()), method, path, body, **changes)


Request = tuple[str, str, dict[str, Any]]
JSON_TYPE: dict[str, Any] = {"CONTENT_TYPE": "application/json"}
FAILURES: list[tuple[Request, int, str, dict[str, str]]] = [
    (("GET", "/nowhere", {}), 404, "NOT_FOUND", {}),
    (("GET", "/v1", {}), 404, "NOT_FOUND", {}),
    (("GET", "/v2/posts", {}), 404, "NOT_FOUND", {}),
    (("GET", "/posts/", {}), 404, "NOT_FOUND", {}),
    (("PATCH", "/graphql/", {}), 404, "NOT_FOUND", {}),
    (("OPTIONS", "/graphql/x", {}), 404, "NOT_FOUND", {}),
    (("DELETE", "/\xf0\x9f\x90\x9f", {}), 404, "NOT_FOUND", {}),
    (("GET", "/posts/0", {}), 404, "NOT_FOUND", {}),
    (("GET", "/posts/\xff\x00", {}), 404, "NOT_FOUND", {}),
    (("PUT", "/posts", {}), 405, "METHOD_NOT_ALLOWED", {"Allow": "GET, HEAD, POST, OPTIONS"}),
    (("TRACE", "/v1/posts/1", {}), 405, "METHOD_NOT_ALLOWED", {"Allow": "GET, HEAD, PATCH, DELETE, OPTIONS"}),
    (("POST", "/.well-known/jwks.json", {}), 405, "METHOD_NOT_ALLOWED", {"Allow": "GET, HEAD, OPTIONS"}),
    (("POST", "/posts", {"body": b"{", **JSON_TYPE}), 401, "UNAUTHENTICATED", {}),
    (("GET", "/posts", {"QUERY_STRING": "limit=0"}), 400, "BAD_REQUEST", {}),
    (("POST", "/posts", {"body": b" " * 2**21, **JSON_TYPE}), 413, "TOO_LARGE", {}),
    (("POST", "/posts", {"body": b'{"title": "t", "body": "b"}', **JSON_TYPE}), 401, "UNAUTHENTICATED",
     {"WWW-Authenticate": build_challenge()}),
    (("GET", "/posts", {"HTTP_AUTHORIZATION": "Bearer x"}), 401, "UNAUTHENTICATED",
     {"WWW-Authenticate": build_challenge("invalid_token")}),
    (("GET", "/posts", {"HTTP_HOST": "elsewhere.invalid"}), 400, "BAD_REQUEST", {}),
    (("POST", "/graphql", {"HTTP_HOST": "testserver:port"}), 400, "BAD_REQUEST", {}),
    (("POST", "/nowhere", {"HTTP_HOST": "[::1"}), 400, "BAD_REQUEST", {}),
    (("GET", "/posts", {"QUERY_STRING": "&".join(f"a{n}" for n in range(2000))}), 400, "BAD_REQUEST", {}),
    (("GET", "/nowhere", {"HTTP_ORIGIN": "https://www.example.com"}), 404, "NOT_FOUND", {}),
    (("PUT", "/posts", {"HTTP_ORIGIN": "x"}), 405, "METHOD_NOT_ALLOWED", {"Allow": "GET, HEAD, POST, OPTIONS"}),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "status", "code", "headers"), FAILURES, ids=range(len(FAILURES)))
@pytest.mark.parametrize("accept", ["", PROBLEM])
def test_error_has_the_requested_format(
    request_: Request, status: int, code: str, headers: dict[str, str], accept: str
) -> None:
    method, path, changes = request_

    found, given, content = send_request(method, path, HTTP_ACCEPT=accept, **changes)

    assert (found, given["X-Error-Code"]) == (status, code)
    assert headers.items() <= given.items()
    assert given["Content-Length"] == str(len(content))
    assert "Accept" in given["Vary"].split(", ")
    require_shape(given, json.loads(content), status, accept)


def require_shape(given: dict[str, str], body: Any, status: int, accept: str) -> None:
    assert given["Content-Type"] == (accept or "application/json")
    if accept:
        assert list(body) == MEMBERS
        assert (body["type"], body["status"], body["requestId"]) == ("about:blank", status, given["X-Request-ID"])
    else:
        assert list(body) == ["error"]
        assert body["error"]


@pytest.mark.parametrize(
    ("content_type", "body", "status", "code"),
    [
        ("text/plain", b"{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("application/json", b"{", 400, "BAD_REQUEST"),
        ("application/json", b'{"title": " ", "body": "b"}', 422, "INVALID"),
    ],
)
@pytest.mark.parametrize("accept", ["", PROBLEM])
def test_error_of_a_body_has_the_requested_format(
    content_type: str, body: bytes, status: int, code: str, accept: str
) -> None:
    headers: dict[str, Any] = {"HTTP_X_API_KEY": make_api_key(make_actor(Role.AUTHOR)), "CONTENT_TYPE": content_type}

    found, given, content = send_request("POST", "/posts", body, HTTP_ACCEPT=accept, **headers)

    assert (found, given["X-Error-Code"]) == (status, code)
    require_shape(given, json.loads(content), status, accept)
    assert (b"This must not be empty." in content) is (status == 422)


@pytest.mark.parametrize("accept", ["", PROBLEM])
@pytest.mark.parametrize("path", ["/posts", "/nowhere", "/.well-known/jwks.json"])
def test_429_has_retry_after(settings: Settings, path: str, accept: str) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="1/minute")
    send_request("GET", "/posts")

    status, given, content = send_request("GET", path, HTTP_ACCEPT=accept)

    assert (status, given["X-Error-Code"], given["Retry-After"]) == (429, "RATE_LIMITED", "60")
    assert {"RateLimit", "RateLimit-Policy", "X-Request-ID"} <= set(given)
    require_shape(given, json.loads(content), 429, accept)


@pytest.mark.parametrize("accept", ["", PROBLEM])
@pytest.mark.parametrize("origin", [{}, {"HTTP_ORIGIN": "https://www.example.com"}])
def test_500_reveals_nothing_of_its_cause(
    accept: str, origin: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    execute("ALTER TABLE blog_post RENAME TO lost")

    status, given, content = send_request("GET", "/posts", HTTP_ACCEPT=accept, **origin)

    assert (status, given["X-Error-Code"]) == (500, "INTERNAL")
    assert b"lost" not in content
    assert b"blog_post" not in content
    require_shape(given, json.loads(content), 500, accept)
    [record] = caplog.records
    assert (record.name, record.exc_info is not None) == ("contentapi.requests", True)


@pytest.mark.parametrize("accept", ["", PROBLEM])
@pytest.mark.parametrize(
    ("exception", "status", "headers"), [(RuntimeError("secret"), 500, {}), (Unavailable(), 503, {"Retry-After": "5"})]
)
@pytest.mark.filterwarnings("ignore")
def test_errors_outside_of_resources_have_the_same_format(
    monkeypatch: pytest.MonkeyPatch, exception: Exception, status: int, headers: dict[str, str], accept: str
) -> None:
    def fail() -> None:
        raise exception

    monkeypatch.setattr("contentapi.auth.signing_keys.get_key_ring", fail)

    found, given, content = send_request("GET", "/.well-known/jwks.json", HTTP_ACCEPT=accept)

    assert found == status
    assert headers.items() <= given.items()
    assert b"secret" not in content
    require_shape(given, json.loads(content), status, accept)


def test_each_response_has_its_own_id_whatever_the_client_sends() -> None:
    sent: dict[str, Any] = {"HTTP_X_REQUEST_ID": "0" * 32}

    ids = [send_request("GET", path, **sent)[1]["X-Request-ID"] for path in ("/nowhere", "/nowhere", "/graphql", "/")]

    assert len({"0" * 32, *ids}) == 5
    assert all(len(text) == 32 and text.isalnum() for text in ids)


@pytest.mark.parametrize("path", ["/nowhere", "/v2/posts", "/posts/0", "/posts", "/.well-known/jwks.json"])
def test_response_to_head_has_no_body(path: str) -> None:
    _, of_get, content = send_request("GET", path)

    _, of_head, nothing = send_request("HEAD", path)

    assert nothing == b""
    assert of_head["Content-Length"] == of_get["Content-Length"] == str(len(content))


@pytest.mark.parametrize("origin", [{}, {"HTTP_ORIGIN": "https://www.example.com"}])
def test_204_has_no_content_length(origin: dict[str, Any]) -> None:
    status, given, content = send_request("OPTIONS", "/v1/posts", **origin)

    assert (status, content, given["Allow"]) == (204, b"", "GET, HEAD, POST, OPTIONS")
    assert {"Content-Length", "Content-Type"}.isdisjoint(given)


ANYTHING = st.one_of(
    st.text(st.characters(codec="latin-1"), max_size=20),
    st.text(st.sampled_from('*/;=,q0."W-v1 +jsonapplictevd%&'), max_size=40),
)
NAMES = ["HTTP_ACCEPT", "HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IDEMPOTENCY_KEY", "HTTP_X_API_VERSION",
         "CONTENT_TYPE", "QUERY_STRING", "HTTP_TRANSFER_ENCODING"]  # fmt: skip


REQUESTS = st.tuples(
    st.sampled_from(["GET", "HEAD", "POST", "PATCH", "DELETE"]),
    st.sampled_from(["/posts", "/v1/posts/{post}", "/posts/{post}/publish", "/users"]),
    st.sampled_from([b"", b"{}", b'{"title": "t", "body": "b"}', b'{"expectedVersion": "x"}']),
    st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=4),
)


@pytest.mark.property
def test_no_request_causes_a_500() -> None:
    author = make_author()
    post, key = make_post(author=author), make_api_key(make_actor(Role.AUTHOR, author=author))

    @each(REQUESTS)
    @hypothesis_settings(max_examples=100, deadline=None)
    def check_request(request_: tuple[str, str, bytes, dict[str, Any]]) -> None:
        method, path, body, changes = request_
        COUNTERS.clear()

        with transaction.atomic():
            status, given, content = send_request(
                method, path.format(post=post.pk), body, HTTP_X_API_KEY=key, **changes
            )
            transaction.set_rollback(True)

        assert status < 500
        assert given["X-API-Version"] == "1"
        assert (status >= 400) == ("X-Error-Code" in given)
        assert not content or json.loads(content)

    check_request()
