"""Streams and subscriptions through nginx, Caddy and an Ingress with the configurations of deploy/."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from benchmarks.followers import Follower, open_stream
from tests.deployment.live_server import Site, run_site
from tests.deployment.processes import wait_until
from tests.deployment.proxies import CADDYFILE, DEPLOY, start_caddy, start_nginx
from tests.deployment.template import Template
from tests.e2e.streams import serve_streams
from tests.e2e.test_proxies import PROXIES, pytestmark, send

__all__ = ["pytestmark"]

SUBSCRIPTION = {"query": "subscription { events { type subject } }"}
SUBSCRIPTIONS = {  # what clients send in Accept
    "graphql-sse": "text/event-stream",
    "urql": "text/event-stream, multipart/mixed",
    "Apollo Client": "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
}
QUERIES = {
    "urql": (
        "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, "
        "multipart/mixed"
    ),
    "Apollo Client, @defer": "multipart/mixed;deferSpec=20220824,application/json",
    "graphql-request": "application/graphql-response+json, application/json",
}
PATIENCE = 120.0
STREAMS = 10  # of an address


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Site]:
    with run_site(tmp_path_factory.mktemp("streams") / "site", template) as site:
        yield site


@pytest.fixture(scope="module")
def upstreams(site: Site) -> Iterator[tuple[int, int]]:
    """Yield the ports of a server and of streams."""
    trusted = {"CONTENTAPI_TRUSTED_PROXIES": "1"}
    with site.serve("granian", **trusted) as server, serve_streams(site, trusted) as streams:
        yield server.port, streams


@pytest.fixture(scope="module")
def ports(upstreams: tuple[int, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    server, streams = upstreams
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(start(server, tmp_path_factory.mktemp(name), streams=streams))
            for name, start in PROXIES.items()
        }


@pytest.fixture(params=PROXIES)
def port(ports: dict[str, int], request: pytest.FixtureRequest) -> int:
    return ports[request.param]


def create_post(site: Site, port: int) -> str:
    response = send(port, "POST", "/posts", {"title": "New", "body": "", "status": "published"}, X_API_Key=site.key)
    assert response.status == 201, response.text
    return str(json.loads(response.text)["id"])


@contextmanager
def subscribe(port: int, accept: str) -> Iterator[HTTPResponse]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Accept": accept, "Content-Type": "application/json"}
    connection.request("POST", "/graphql", json.dumps(SUBSCRIPTION), headers)
    with connection.getresponse() as response:
        yield response
    connection.close()


def read_until(response: HTTPResponse, pattern: str) -> None:
    """Read until a pattern has come. Fails if the stream ends, or if only other lines come for `PATIENCE`."""
    content, deadline = "", time.monotonic() + PATIENCE
    while not re.search(pattern, content):
        assert time.monotonic() < deadline, content
        part = response.read1()
        assert part, content
        content += part.decode()


def test_event_passes_the_proxy_to_streams_and_subscriptions(site: Site, port: int, subtests: pytest.Subtests) -> None:
    feed = Follower(port, "/v1/events/stream?type=post.created")
    feed.start()
    assert feed.opened.wait(PATIENCE), feed.refusals
    with ExitStack() as stack:
        responses = {name: stack.enter_context(subscribe(port, accept)) for name, accept in SUBSCRIPTIONS.items()}

        post_id = create_post(site, port)

        for name, response in responses.items():
            with subtests.test(name):
                media_type = SUBSCRIPTIONS[name].split(";")[0].split(",")[0]
                assert response.status == 200
                assert response.headers["Content-Type"].startswith(media_type)
                read_until(response, rf'"subject" ?: ?"{post_id}"')
    with subtests.test("EventSource"):
        assert feed.wait_for(lambda it: any(each.event["subject"] == post_id for each in it.events), PATIENCE)
    feed.stop()


@pytest.mark.parametrize("accept", QUERIES.values(), ids=QUERIES)
def test_query_that_names_streams_last_reaches_the_server(port: int, accept: str) -> None:
    response = send(port, "POST", "/graphql", {"query": "{ __typename }"}, Accept=accept)

    assert (response.status, response.text) == (200, '{"data":{"__typename":"Query"}}')


def test_each_address_has_its_own_streams_which_end_with_its_clients(port: int) -> None:
    with ExitStack() as stack:
        open_streams(stack, port)
        with pytest.raises(RuntimeError, match="429"):
            open_stream(port, "127.0.0.2")
        open_stream(port, "127.0.0.3").close()

    with ExitStack() as stack:
        open_streams(stack, port)


def open_streams(stack: ExitStack, port: int) -> None:
    """Open as many streams as an address may have, as soon as those that were open before have ended."""

    def open_one() -> bool:
        with suppress(RuntimeError):
            stack.enter_context(open_stream(port, "127.0.0.2"))
            return True
        return False

    for _ in range(STREAMS):
        wait_until(open_one, "the end of the streams", PATIENCE)


def test_no_time_limit_of_caddy_ends_a_stream(site: Site, upstreams: tuple[int, int], tmp_path: Path) -> None:
    text = CADDYFILE.read_text()
    for old, new in {"read_header 5s": "read_header 1s", "read_body 5m": "read_body 1s", "idle 30s": "idle 1s"}.items():
        assert old in text
        text = text.replace(old, new)
    server, streams = upstreams

    with start_caddy(server, tmp_path, streams=streams, text=text) as port:
        require_stream_of_seconds(site, port)


def test_no_time_limit_of_nginx_but_that_of_reads_ends_a_stream(
    site: Site, upstreams: tuple[int, int], tmp_path: Path
) -> None:
    """Keep-alives come every 15 seconds, and the time limit of reads is 60 seconds."""
    text = (DEPLOY / "nginx.conf").read_text()
    for name, seconds in {"client_header": "5s", "client_body": "10s", "send": "60s", "keepalive": "30s"}.items():
        assert f"    {name}_timeout {seconds}" in text
        text = text.replace(f"    {name}_timeout {seconds}", f"    {name}_timeout 1s")
    server, streams = upstreams

    with start_nginx(server, tmp_path, text=text, streams=streams) as port:
        require_stream_of_seconds(site, port)


def require_stream_of_seconds(site: Site, port: int) -> None:
    with subscribe(port, "text/event-stream") as response:
        time.sleep(3)  # longer than the time limits
        post_id = create_post(site, port)
        read_until(response, rf'"subject" ?: ?"{post_id}"')
