"""The fast path: its responses equal those of Django, header by header."""

import io
import json
from itertools import product
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from contentapi.rate_limits.account import COUNTERS
from contentapi.server.fast_path import FastPath
from tests.contentapi.server.fast_path_requests import (
    FailingDjango,
    build_environ,
    call_application,
    normalize_response,
)
from tests.factories import make_post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_connections")]


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
        {"REQUEST_METHOD": "GET", "QUERY_STRING": "query={posts{title}}"},
        {"REQUEST_METHOD": "GET", "QUERY_STRING": "query={posts{title}}", "HTTP_IF_NONE_MATCH": "*"},
        {"REQUEST_METHOD": "GET", "QUERY_STRING": "query=mutation{deletePost(id:1)}"},
        {"REQUEST_METHOD": "GET", "QUERY_STRING": "", "HTTP_ORIGIN": "https://www.example.com"},
        {"REQUEST_METHOD": "GET", "QUERY_STRING": "query={__typename}", "HTTP_X_API_KEY": "no key"},
        {"body": b"[{}, {}]"},
    ],
    ids=str,
)
def test_response_of_graphql_equals_djangos(fast_path: FastPath, django: WSGIHandler, changes: dict[str, Any]) -> None:
    make_post(title="Soup")

    direct = call_application(fast_path, build_environ(**changes))
    COUNTERS.clear()
    by_django = call_application(django, build_environ(**changes))

    assert normalize_response(direct) == normalize_response(by_django)
    if direct[0] != "304 Not Modified":  # which has the length of the body that it omits
        assert dict(direct[1])["Content-Length"] == str(len(direct[2]))


RESOURCES: list[tuple[str, dict[str, str]]] = [
    ("/posts", {}),
    ("/posts", {"QUERY_STRING": "limit=1&tag=%C3%A9"}),
    ("/v1/posts", {"QUERY_STRING": "limit=0", "HTTP_ACCEPT": "application/problem+json"}),
    ("/posts/{post}", {}),
    ("/posts/{post}", {"HTTP_ACCEPT": "application/vnd.contentapi.v1+json"}),
    ("/posts/{post}", {"HTTP_IF_NONE_MATCH": "*"}),
    ("/v1/posts/{post}", {"HTTP_X_API_KEY": "no key"}),
    ("/posts/{post}/comments", {"HTTP_X_API_VERSION": "2"}),
    ("/posts/0", {}),
]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PATCH"])
def test_response_of_a_resource_equals_djangos(fast_path: FastPath, django: WSGIHandler, method: str) -> None:
    post = make_post(title="Soup").pk
    for path, changes in RESOURCES:
        request: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path.format(post=post), **changes}

        COUNTERS.clear()
        direct = call_application(fast_path, build_environ(**request))
        COUNTERS.clear()
        by_django = call_application(django, build_environ(**request))

        assert normalize_response(direct) == normalize_response(by_django), request
        assert dict(direct[1]).get("Content-Length") == dict(by_django[1]).get("Content-Length"), request


class BrokenBody(io.BytesIO):
    def read(self, *_: Any) -> bytes:
        raise OSError("the chunk's size is ZZZ")


def test_unreadable_body_is_400(fast_path: FastPath) -> None:
    changes: dict[str, Any] = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": BrokenBody()}

    status, _, body = call_application(fast_path, build_environ(**changes))

    [error] = json.loads(body)["errors"]
    assert (status, error["message"]) == ("400 Bad Request", "The body could not be read completely.")


def test_response_behind_tls_has_strict_transport_security(settings: Any) -> None:
    settings.HTTPS = True
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    _, headers, _ = call_application(FastPath(FailingDjango()), build_environ(HTTP_X_FORWARDED_PROTO="https"))

    assert dict(headers)["Strict-Transport-Security"].startswith("max-age=60")


def test_charset_of_a_content_type_never_causes_a_500() -> None:
    application = FastPath(WSGIHandler())
    paths = ("oauth/token", "oauth/introspect", "oauth/authorize", "oauth/login", "graphql", "none")

    for path, codec, method in product(paths, ("zlib", "idna", "undefined", "utf-16"), ("GET", "POST")):
        request = build_environ(b"x=%41%ff", REQUEST_METHOD=method, PATH_INFO=f"/{path}", QUERY_STRING="a=%41%ff")
        content_type = f"application/x-www-form-urlencoded; charset={codec}"
        COUNTERS.clear()
        status, *_ = call_application(application, {**request, "CONTENT_TYPE": content_type})

        assert int(status[:3]) < 500, (path, codec, method)


def test_content_type_of_25_kilobytes_is_415() -> None:
    request = build_environ(b"x=1", PATH_INFO="/oauth/token", CONTENT_TYPE=f"text/plain; {'a=b; ' * 5000}")

    status, *_ = call_application(FastPath(WSGIHandler()), request)

    assert status.startswith("415")
