"""The log line of a request that failed: one for each failure, with tracebacks of unknown errors only."""

import logging
from typing import Any

import pytest
from django.db import connections

from contentapi.core.identity import Role
from contentapi.db.engine.slots import THREAD, ConnectionSlots, Lease
from contentapi.http.request_log import SAFE_MESSAGES
from tests.behaviour.test_graphql_failures import execute, slow_down_post_queries
from tests.conftest import make_api_key
from tests.contentapi.http.logged_requests import encode_query, get_logged_line
from tests.factories import make_actor
from tests.wsgi import call_application

SECRET = "hunter2"
JSON_TYPE = {"CONTENT_TYPE": "application/json"}


LINES: list[tuple[str, str, dict[str, Any], str]] = [
    ("GET", "/posts/0", {}, "404 NOT_FOUND There is no post with this id."),
    ("HEAD", "/posts/0", {}, "404 NOT_FOUND There is no post with this id."),
    ("GET", "/nowhere", {}, "404 NOT_FOUND There is nothing at this address."),
    ("GET", "/orders", {}, "401 UNAUTHENTICATED A credential is needed to list orders."),
    ("GET", "/posts", {"HTTP_AUTHORIZATION": f"Bearer {SECRET}"},
     "401 UNAUTHENTICATED This bearer token is not valid."),
    ("GET", "/posts", {"HTTP_X_API_KEY": SECRET}, "401 UNAUTHENTICATED The API key is unknown, expired or revoked."),
    ("GET", "/posts", {"QUERY_STRING": f"limit={SECRET}"}, "400 BAD_REQUEST"),
    ("GET", "/posts", {"HTTP_HOST": f"{SECRET}.invalid"}, "400 BAD_REQUEST"),
    ("PATCH", "/posts", {}, "405 METHOD_NOT_ALLOWED PATCH is not allowed here; allowed: GET, HEAD, POST, OPTIONS."),
    ("POST", "/posts", {"body": SECRET.encode()}, "401 UNAUTHENTICATED A credential is needed to send this request."),
    ("POST", "/graphql", {"body": encode_query("{ hunter2"), **JSON_TYPE}, "400 GRAPHQL_PARSE_FAILED"),
    ("POST", "/graphql", {"body": encode_query('{ posts(limit: "hunter2") { hunter2 } }'), **JSON_TYPE},
     "400 GRAPHQL_VALIDATION_FAILED"),
    ("POST", "/graphql", {"body": encode_query("query ($n: Int) { posts(limit: $n) { id } }", n=SECRET), **JSON_TYPE},
     "400 BAD_REQUEST"),
    ("POST", "/graphql", {"body": encode_query("mutation { deletePost(id: 1) }"), **JSON_TYPE},
     "401 UNAUTHENTICATED A credential is needed to delete posts."),
    ("POST", "/graphql", {"body": b" " * 2**21, **JSON_TYPE}, f"413 TOO_LARGE The body is too large. At most {2**20}"
     " bytes are allowed (CONTENTAPI_MAX_BODY)."),
    ("POST", "/admin/login/", {}, "403 Forbidden"),
    ("POST", "/oauth/token", {"body": b"client_secret=hunter2",
                              "CONTENT_TYPE": "application/x-www-form-urlencoded"}, "400 BAD_REQUEST"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "changes", "expected"), LINES, ids=range(len(LINES)))
def test_client_error_is_one_line_without_secrets(
    application: Any, log: pytest.LogCaptureFixture, method: str, path: str, changes: dict[str, Any], expected: str
) -> None:
    response = call_application(application, method, path, **changes)

    assert get_logged_line(log) == f"{method} {path} {expected}"
    assert str(response.status) == expected[:3]
    assert SECRET not in log.text


@pytest.mark.parametrize(
    ("headers", "expected"),
    [({}, "415 UNSUPPORTED_MEDIA_TYPE Send the body as application/json in UTF-8."), (JSON_TYPE, "400 BAD_REQUEST")],
)
def test_malformed_body_is_not_logged(
    application: Any, log: pytest.LogCaptureFixture, headers: dict[str, str], expected: str
) -> None:
    key = make_api_key(make_actor(Role.AUTHOR))

    call_application(application, "POST", "/posts", b'{"status": "hunter2"}', HTTP_X_API_KEY=key, **headers)

    assert get_logged_line(log) == f"POST /posts {expected}"
    assert SECRET not in log.text


def test_unknown_exception_is_one_error_with_its_traceback(application: Any, log: pytest.LogCaptureFixture) -> None:
    execute("ALTER TABLE blog_post RENAME TO lost")

    call_application(application, "GET", "/posts")

    assert get_logged_line(log, logging.ERROR) == "GET /posts 500 INTERNAL ProgrammingError"
    assert 'relation "blog_post" does not exist' in log.text


def test_several_unknown_exceptions_are_one_error_with_all_tracebacks(
    application: Any, log: pytest.LogCaptureFixture
) -> None:
    execute("ALTER TABLE blog_post RENAME COLUMN body TO lost_body")
    query = "{ __typename post(id: 1) { body } author(id: 1) { bio } }"

    response = call_application(application, "POST", "/graphql", encode_query(query), **JSON_TYPE)

    assert response.status == 294
    assert get_logged_line(log, logging.ERROR) == "POST /graphql 294 INTERNAL ProgrammingError"
    assert "column blog_post.body does not exist" in log.text
    assert "current transaction is aborted" in log.text  # the second, because a test is one transaction


@pytest.mark.parametrize(
    ("method", "path", "body"), [("GET", "/posts", b""), ("POST", "/graphql", encode_query("{ posts { id } }"))]
)
def test_database_failure_is_one_line_without_a_traceback(
    application: Any, log: pytest.LogCaptureFixture, method: str, path: str, body: bytes
) -> None:
    slow_down_post_queries()

    call_application(application, method, path, body, **JSON_TYPE)

    assert get_logged_line(log, logging.ERROR) == (
        f"{method} {path} 503 UNAVAILABLE QueryCanceled: canceling statement due to statement timeout"
    )
    assert "Traceback" not in log.text


def test_request_that_waited_too_long_is_one_line_that_names_what_it_waited_for(
    application: Any, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = connections["default"]
    monkeypatch.setattr("contentapi.db.engine.slots.create_wrappers", lambda: {"default": own})
    slots = ConnectionSlots(2, patience=0.01)
    slots.enter_lane(Lease(slots), slots.preparation)
    lease = slots.acquire()
    try:
        call_application(application, "POST", "/graphql", encode_query(f"{{ waited{id(slots)}: id }}"), **JSON_TYPE)
    finally:
        slots.release(lease)
        connections["default"], THREAD.connections = own, {"default": own}

    assert get_logged_line(log, logging.ERROR) == (
        "POST /graphql 503 UNAVAILABLE NoSlotAvailable: waited 0.01 s for the preparation lane"
    )


def test_log_level_above_info_omits_client_errors(application: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)

    call_application(application, "GET", "/posts/0")

    assert caplog.records == []


def test_messages_that_repeat_the_request_are_not_logged() -> None:
    repeating = {"BAD_REQUEST", "CONFLICT", "INVALID", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"}

    assert SAFE_MESSAGES.isdisjoint(repeating)
