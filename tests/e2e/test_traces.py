"""Traces of both servers, sent to a receiver that decodes them."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.e2e.checkout import Checkout, Run, free_port
from tests.otlp_receiver import OtlpReceiver, build_tree
from tests.redis_server import RedisServer

pytestmark = pytest.mark.processes

PARENT = "00f067aa0ba902b7"
SECRET_TEXT = "Text that nobody may read in a trace"
ANONYMOUS_LIMIT = 1000


class Service:
    """A running server with the receiver of its traces."""

    def __init__(self, run: Run, receiver: OtlpReceiver) -> None:
        self.run = run
        self.receiver = receiver
        self.key = (run.checkout.folder / "var/demo_api_key").read_text().strip()
        self.last_number = 0

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Send a request with a sampled `traceparent`. Return the status, the trace id and the headers."""
        self.last_number += 1
        trace_id = f"{id(self):024x}{self.last_number:08x}"
        sent = {"traceparent": f"00-{trace_id}-{PARENT}-01", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", int(self.run.port), timeout=30)
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        connection.request(method, path, content, sent)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status, trace_id, {name.lower(): value for name, value in response.getheaders()}

    def query(self, text: str, **headers: str) -> tuple[int, str, dict[str, str]]:
        return self.send("POST", "/graphql", {"query": text}, **headers)


@pytest.fixture(params=["granian", "gunicorn"], scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    checkout = Checkout(tmp_path_factory.mktemp("traces") / "a checkout")
    receiver, redis = OtlpReceiver(), RedisServer(tmp_path_factory.mktemp("redis"))
    run = start(checkout, request.param, receiver, REDIS_URL=redis.url)
    yield Service(run, receiver)
    run.interrupt()
    checkout.kill_everything()
    receiver.close()
    redis.kill()


def start(checkout: Checkout, server: str, receiver: OtlpReceiver, **variables: str) -> Run:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "200", **variables}
    return checkout.run(f"SERVER={server}", port=free_port(), WEB_CONCURRENCY="1", **variables).wait_until_ready()


def test_trace_of_a_query_is_a_tree(service: Service) -> None:
    service.query("{ viewer { role } }", X_API_Key=service.key)  # opens the connection, and records the use of the key

    status, trace_id, headers = service.query(
        "query Secretly { posts(limit: 2) { title } viewer { role } }", X_API_Key=service.key
    )

    spans = service.receiver.wait_for_trace(trace_id)
    request = next(span for span in spans if span.kind == 2)
    assert status == 200
    assert build_tree(spans, PARENT) == [
        (
            "query several",
            [
                "SELECT users_apikey",
                "redis consume",
                "parse",
                "validate",
                ("field posts", ["SELECT blog_post"]),
                ("field viewer", ["SELECT users_user"]),
            ],
        )
    ]
    assert request.attributes == {
        "url.scheme": "http",
        "http.request.method": "POST",
        "http.route": "/graphql",
        "http.response.status_code": 200,
        "http.response.body.size": request.attributes["http.response.body.size"],
        "contentapi.request_id": headers["x-request-id"],
        "contentapi.cost": request.attributes["contentapi.cost"],
        "contentapi.wait_seconds": request.attributes["contentapi.wait_seconds"],
    }
    assert headers["traceresponse"] == f"00-{trace_id}-{request.span_id}-01"
    assert request.resource["service.name"] == "contentapi"
    statement = next(span for span in spans if span.name == "SELECT blog_post")
    assert statement.kind == 3
    assert set(statement.attributes) == {
        "db.system.name", "db.query.summary", "db.query.text", "db.statement.fingerprint"
    }  # fmt: skip
    assert all(0 <= span.seconds <= request.seconds for span in spans)
    assert service.run.printed.count(f"trace_id={trace_id}") == 1


def test_cached_document_is_not_parsed_again(service: Service) -> None:
    service.query("{ posts(limit: 3) { title } }")

    _, trace_id, _ = service.query("{ posts(limit: 3) { title } }")

    spans = service.receiver.wait_for_trace(trace_id)
    assert build_tree(spans, PARENT) == [("query posts", ["redis consume", ("field posts", ["SELECT blog_post"])])]


def test_mutation_and_resource_have_their_names(service: Service) -> None:
    created = 'mutation($title: String!) { createPost(input: {title: $title, body: "Text"}) { id } }'
    body = {"query": created, "variables": {"title": SECRET_TEXT}}
    _, mutation, _ = service.send("POST", "/graphql", body, X_API_Key=service.key)
    _, resource, _ = service.send("GET", "/posts/999999?unknown=1", Accept="application/json")
    _, page, _ = service.send("GET", "/admin/login/?next=/admin/secret")

    names = [span.name for span in service.receiver.wait_for_trace(mutation)]
    assert names[-1] == "mutation createPost"
    assert "field createPost" in names
    assert any(name.startswith(("WITH", "INSERT")) for name in names)
    assert [span.name for span in service.receiver.wait_for_trace(resource)][-1] == "GET /posts/{post_id}"
    assert [span.name for span in service.receiver.wait_for_trace(page)][-1] == "GET /admin/login/"


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/graphql", b"{", {}, 400),
        ("POST", "/graphql", b"{}", {"Content_Type": "text/plain"}, 415),
        ("GET", "/nowhere", None, {}, 404),
        ("PUT", "/posts", b"{}", {}, 405),
        ("POST", "/posts", b"{}", {"X_API_Key": "none"}, 401),
        ("GET", "/posts", None, {"Host": "elsewhere.invalid"}, 400),
    ],
)
def test_refused_request_has_a_span(
    service: Service, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    answered, trace_id, _ = service.send(method, path, body, **headers)

    request = service.receiver.wait_for_trace(trace_id)[-1]
    assert answered == status
    assert request.attributes["http.response.status_code"] == status
    assert not request.failed


def test_request_over_its_rate_limit_has_a_span(service: Service) -> None:
    sent = [service.send("POST", "/oauth/token", b"{}") for _ in range(11)]

    answered, trace_id, _ = sent[-1]
    request = service.receiver.wait_for_trace(trace_id)[-1]
    assert answered == 429
    assert (request.name, request.attributes["http.response.status_code"]) == ("POST /oauth/token", 429)


def test_failed_field_has_the_type_of_its_error(service: Service) -> None:
    text = 'mutation { publishPost(id: "999999999") { id } }'

    _, trace_id, _ = service.query(text, X_API_Key=service.key)

    field = next(span for span in service.receiver.wait_for_trace(trace_id) if span.name.startswith("field"))
    assert field.failed
    assert field.attributes == {"graphql.field.name": "publishPost", "error.type": "NotFound"}


def test_unsampled_and_invalid_parents(service: Service) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    _, _, unsampled = service.query("{ __typename }", traceparent=f"00-{trace_id}-{PARENT}-00")
    _, _, invalid = service.query("{ __typename }", traceparent=f"00-{'0' * 32}-{PARENT}-01")

    assert "traceresponse" not in unsampled
    fresh = invalid["traceresponse"].split("-")[1]
    request = service.receiver.wait_for_trace(fresh)[-1]
    assert request.parent_id == ""
    assert fresh != "0" * 32
    assert f"trace_id={trace_id}" in service.run.wait_for(f"trace_id={fresh}").printed
    assert all(span.trace_id != trace_id for span in service.receiver.spans)


def test_traces_contain_no_value_of_a_request(service: Service) -> None:
    post = {"query": "mutation($p: CreatePostInput!) { createPost(input: $p) { id } }"}
    post["variables"] = {"p": {"title": SECRET_TEXT, "body": SECRET_TEXT, "tags": [SECRET_TEXT]}}  # type: ignore[assignment]
    search = f'query TextOperation {{ posts(search: "{SECRET_TEXT}") {{ id }} }}'
    user = {"name": SECRET_TEXT, "email": "somebody.secret@example.invalid"}
    sent = [
        service.send("POST", "/graphql", post, X_API_Key=service.key),
        service.query(search, Authorization=f"Bearer {SECRET_TEXT}"),
        service.query(search),
        service.send("POST", "/users", user, X_API_Key=service.key),
        service.send("POST", "/users", user, X_API_Key=service.key),
        service.send("GET", f"/posts?tag={SECRET_TEXT.replace(' ', '+')}", User_Agent=SECRET_TEXT),
        service.send("GET", f"/nowhere/{SECRET_TEXT.replace(' ', '-')}"),
    ]
    assert [status for status, *_ in sent][3:5] == [201, 409]

    for _, trace_id, _ in sent:
        service.receiver.wait_for_trace(trace_id)

    received = b"".join(service.receiver.bodies)
    values = [
        service.key,
        SECRET_TEXT,
        SECRET_TEXT.replace(" ", "-"),
        "somebody.secret",
        f"{SECRET_TEXT.split()[0]}Operation",
    ]
    assert [value for value in values if value.encode() in received] == []
    assert b"SELECT" in received


@pytest.mark.slow
@pytest.mark.parametrize("server", ["granian", "gunicorn"])
def test_last_spans_are_sent_at_the_end(checkout: Checkout, server: str) -> None:
    receiver = OtlpReceiver()
    run = start(checkout, server, receiver, OTEL_BSP_SCHEDULE_DELAY="600000")
    _, trace_id, _ = Service(run, receiver).query("{ posts(limit: 2) { title } }")

    run.interrupt()

    assert build_tree(receiver.wait_for_trace(trace_id), PARENT)
    receiver.close()


@pytest.mark.slow
@pytest.mark.parametrize("server", ["granian", "gunicorn"])
def test_hanging_collector_delays_no_request(checkout: Checkout, server: str) -> None:
    receiver = OtlpReceiver()
    receiver.hanging.set()
    run = start(checkout, server, receiver, OTEL_BSP_MAX_QUEUE_SIZE="64", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="16")
    service = Service(run, receiver)
    began = time.monotonic()

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(lambda _: service.query("{ posts(limit: 2) { title } }")[0], range(200)))
    seconds = time.monotonic() - began

    assert set(statuses) == {200}
    assert seconds < 20
    assert receiver.waiting >= 1
    assert run.printed.count("Traces are not sent.") <= 1
    began = time.monotonic()
    run.interrupt()
    assert time.monotonic() - began < 10
    receiver.close()


def test_unreachable_collector_is_one_line_a_minute(checkout: Checkout) -> None:
    run = checkout.run(
        port=free_port(),
        WEB_CONCURRENCY="1",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://user:password@127.0.0.1:{free_port()}",
        OTEL_BSP_SCHEDULE_DELAY="100",
    ).wait_until_ready()
    service = Service(run, OtlpReceiver())

    statuses = {service.query("{ posts(limit: 2) { title } }")[0] for _ in range(50)}
    run.wait_for("Traces are not sent.")
    time.sleep(3)

    assert statuses == {200}
    assert run.printed.count("Traces are not sent.") == 1
    assert "password" not in next(line for line in run.printed.splitlines() if "Traces are not sent." in line)
