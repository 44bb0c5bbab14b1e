"""The log line of a request: exactly one on each path through the server, without secrets."""

import io
import json
import logging
from typing import Any

import msgspec
import pytest
from django.test import Client
from pytest_django import Settings

from contentapi.core.identity import Role
from contentapi.http.request_log import MAX_LINE
from contentapi.monitoring.logs import LineFormatter, RequestIdFilter
from contentapi.monitoring.records import current_record
from tests.conftest import make_api_key
from tests.contentapi.http.logged_requests import encode_query, get_logged_line
from tests.factories import make_actor, make_post
from tests.wsgi import call_application
from users.models import User

SECRET = "hunter2"
JSON_TYPE = {"CONTENT_TYPE": "application/json"}


@pytest.mark.usefixtures("log")
def test_line_contains_the_request_id_of_the_response(application: Any) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(LineFormatter())
    handler.addFilter(RequestIdFilter())
    logging.getLogger().addHandler(handler)
    try:
        ids = [call_application(application, "GET", f"/posts/{number}").headers["X-Request-ID"] for number in range(2)]
    finally:
        logging.getLogger().removeHandler(handler)

    lines = written.getvalue().splitlines()
    assert [line.partition("INFO ")[2].partition(" operation=")[0] for line in lines] == [
        f"contentapi.requests [{request_id}] GET /posts/{number} 404 NOT_FOUND There is no post with this id."
        for number, request_id in enumerate(ids)
    ]
    assert current_record.get().id == "-"


@pytest.mark.parametrize("path", ["/posts/\r\n2026 ERROR forged", "/x\n", "/\x1b[31m", "/\x85\x9b", "/\u2028"])
def test_control_characters_in_a_path_are_escaped(application: Any, log: pytest.LogCaptureFixture, path: str) -> None:
    call_application(application, "GET", path.encode().decode("latin-1"))

    line = get_logged_line(log)
    assert line.isascii()
    assert line.isprintable()
    assert len(line.splitlines()) == 1


def test_line_of_a_long_request_has_a_limited_length(application: Any, log: pytest.LogCaptureFixture) -> None:
    call_application(application, "M" * 5000, "/\x00" * 5000)

    assert len(get_logged_line(log)) <= MAX_LINE
    assert get_logged_line(log).startswith(f"{'M' * 17}... /\\x00/")


def test_request_without_an_error_is_one_line(application: Any, log: pytest.LogCaptureFixture) -> None:
    path = f"/posts/{make_post().pk}"

    statuses = [
        call_application(application, "GET", path).status,
        call_application(application, "GET", path, HTTP_IF_NONE_MATCH="*").status,
        call_application(application, "OPTIONS", path).status,
        call_application(application, "POST", "/graphql", encode_query("{ __typename }"), **JSON_TYPE).status,
        call_application(application, "GET", "/admin/").status,
    ]

    assert statuses == [200, 304, 204, 200, 302]
    assert [record.getMessage() for record in log.records] == [
        f"GET {path} 200",
        f"GET {path} 304",
        f"OPTIONS {path} 204",
        "POST /graphql 200",
        "GET /admin/ 302",
    ]


def get_fields(log: pytest.LogCaptureFixture) -> dict[str, Any]:
    [record] = log.records
    return dict(vars(record)["fields"])


def test_line_of_a_resource_has_route_credential_time_and_size(application: Any, log: pytest.LogCaptureFixture) -> None:
    key = make_api_key(make_actor(Role.READER))
    path = f"/v1/posts/{make_post().pk}"

    response = call_application(application, "GET", path, HTTP_X_API_KEY=key, QUERY_STRING=f"x={SECRET}")

    fields = get_fields(log)
    assert 0 < fields.pop("ms") < 60_000
    assert fields.pop("statements") > 0
    assert fields == {
        "method": "GET",
        "path": path,
        "status": 200,
        "operation": "/v1/posts/{post_id}",
        "bytes": len(response.content),
        "credential": f"key:{key.rpartition('_')[0]}",
    }


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ("query Latest { posts(limit: 2) { title } }", "query posts"),
        (
            "query Latest { a: posts(limit: 1) { id } ...More } fragment More on Query { posts(limit: 3) { id } }",
            "query posts",
        ),
        ("query Latest { posts(limit: 1) { id } ... { post(id: 1) { id } } }", "query several"),
    ],
)
def test_line_of_graphql_has_operation_and_cost(
    application: Any, log: pytest.LogCaptureFixture, query: str, operation: str
) -> None:
    body = json.dumps({"query": query, "operationName": "Latest", "extensions": {"cost": True}}).encode()

    response = call_application(application, "POST", "/graphql", body, **JSON_TYPE)

    fields = get_fields(log)
    cost = json.loads(response.content)["extensions"]["cost"]
    assert (fields["operation"], fields["operation_name"], fields["cost"]) == (operation, "Latest", cost)


def test_sample_leaves_out_successful_requests_only(
    application: Any, log: pytest.LogCaptureFixture, settings: Settings
) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_log_sample=0.0)

    call_application(application, "GET", "/posts")
    call_application(application, "GET", "/posts/0")

    assert get_logged_line(log) == "GET /posts/0 404 NOT_FOUND There is no post with this id."


def test_session_is_the_credential_of_a_page(log: pytest.LogCaptureFixture, client: Client) -> None:
    actor = make_actor(Role.EDITOR)
    client.force_login(User.objects.get(pk=str(actor.user_id)))

    client.get("/admin/")

    assert get_fields(log)["credential"] == f"user:{actor.user_id}"
    assert get_fields(log)["operation"] == "/admin/"
