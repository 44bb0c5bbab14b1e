"""Traces of both servers, sent to a receiver that decodes them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.deployment.live_server import Site
from tests.deployment.processes import wait_until
from tests.e2e.shared_servers import HAS_REDIS, PARENT, SharedServer, TracedServer, trace_to
from tests.otlp_receiver import OtlpReceiver, build_tree

pytestmark = pytest.mark.servers

needs_redis = pytest.mark.skipif(not HAS_REDIS, reason="redis-server is not installed")
SECRET_TEXT = "Text that nobody may read in a trace"


@needs_redis
def test_trace_of_a_query_is_a_tree(shared_server: SharedServer) -> None:
    with shared_server.live.site.connect() as connection:  # so that no request records the use of the key
        connection.execute("UPDATE users_apikey SET last_used_at = now()")
    shared_server.query("{ viewer { role } }", X_API_Key=shared_server.key)  # opens the connection of the server

    status, trace_id, headers = shared_server.query(
        "query Secretly { posts(limit: 2) { title } viewer { role } }", X_API_Key=shared_server.key
    )

    spans = shared_server.receiver.wait_for_trace(trace_id)
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
    shared_server.live.wait_for(f"trace_id={trace_id}")
    assert shared_server.live.count(f"trace_id={trace_id}") == 1


def test_mutation_and_resource_have_their_names(shared_server: SharedServer) -> None:
    created = 'mutation($title: String!) { createPost(input: {title: $title, body: "Text"}) { id } }'
    body = {"query": created, "variables": {"title": SECRET_TEXT}}
    _, mutation, _ = shared_server.send("POST", "/graphql", body, X_API_Key=shared_server.key)
    _, resource, _ = shared_server.send("GET", "/posts/999999?unknown=1", Accept="application/json")
    _, page, _ = shared_server.send("GET", "/admin/login/?next=/admin/secret")

    names = [span.name for span in shared_server.receiver.wait_for_trace(mutation)]
    assert names[-1] == "mutation createPost"
    assert "field createPost" in names
    assert any(name.startswith(("WITH", "INSERT")) for name in names)
    assert [span.name for span in shared_server.receiver.wait_for_trace(resource)][-1] == "GET /posts/{post_id}"
    assert [span.name for span in shared_server.receiver.wait_for_trace(page)][-1] == "GET /admin/login/"


def test_traces_contain_no_value_of_a_request(shared_server: SharedServer) -> None:
    post = {"query": "mutation($p: CreatePostInput!) { createPost(input: $p) { id } }"}
    post["variables"] = {"p": {"title": SECRET_TEXT, "body": SECRET_TEXT, "tags": [SECRET_TEXT]}}  # type: ignore[assignment]
    search = f'query TextOperation {{ posts(search: "{SECRET_TEXT}") {{ id }} }}'
    user = {"name": SECRET_TEXT, "email": "somebody.secret@example.invalid"}
    sent = [
        shared_server.send("POST", "/graphql", post, X_API_Key=shared_server.key),
        shared_server.query(search, Authorization=f"Bearer {SECRET_TEXT}"),
        shared_server.query(search),
        shared_server.send("POST", "/users", user, X_API_Key=shared_server.key),
        shared_server.send("POST", "/users", user, X_API_Key=shared_server.key),
        shared_server.send("GET", f"/posts?tag={SECRET_TEXT.replace(' ', '+')}", User_Agent=SECRET_TEXT),
        shared_server.send("GET", f"/nowhere/{SECRET_TEXT.replace(' ', '-')}"),
    ]
    assert [status for status, *_ in sent][3:5] == [201, 409]

    for _, trace_id, _ in sent:
        shared_server.receiver.wait_for_trace(trace_id)

    received = b"".join(shared_server.receiver.bodies)
    values = [
        shared_server.key,
        SECRET_TEXT,
        SECRET_TEXT.replace(" ", "-"),
        "somebody.secret",
        f"{SECRET_TEXT.split()[0]}Operation",
    ]
    assert [value for value in values if value.encode() in received] == []
    assert b"SELECT" in received


@pytest.mark.parametrize("kind", ["granian", "gunicorn"])
def test_last_spans_are_sent_at_the_end(site: Site, receiver: OtlpReceiver, kind: str) -> None:
    with site.serve(kind, **trace_to(receiver) | {"OTEL_BSP_SCHEDULE_DELAY": "600000"}) as live:
        _, trace_id, _ = TracedServer(live, receiver).query("{ posts(limit: 2) { title } }")

        assert live.end() == 0

    assert build_tree(receiver.wait_for_trace(trace_id), PARENT)


def test_hanging_collector_delays_no_request(site: Site, receiver: OtlpReceiver) -> None:
    receiver.hanging.set()
    limits = {"OTEL_BSP_MAX_QUEUE_SIZE": "64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "16"}
    with site.serve("granian", **trace_to(receiver), **limits) as live:
        server = TracedServer(live, receiver)

        with ThreadPoolExecutor(4) as threads:
            statuses = list(threads.map(lambda _: server.query("{ posts(limit: 2) { title } }")[0], range(200)))

        assert set(statuses) == {200}
        wait_until(lambda: receiver.waiting >= 1, "an attempt to send")
        assert not receiver.released.is_set()  # all responses are there, and the collector has not responded
        assert live.count("Traces are not sent") <= 1
        assert live.end() == 0
