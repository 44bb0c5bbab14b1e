"""No address leads a webhook into the network of the server: no connection is opened."""

import socket
from collections.abc import Callable, Iterator
from queue import LifoQueue
from threading import Event
from typing import Any

import pycurl
import pytest
from pytest_django import Settings

from contentapi.events.webhooks import sending
from contentapi.events.webhooks.addresses import AddressRefused, parse_url
from contentapi.events.webhooks.sending import ReceivedResponse
from tests.contentapi.events.webhooks.address_tricks import GLOBAL, HOSTS, RESOLUTIONS, URLS, Resolution
from tests.contentapi.events.webhooks.test_addresses import allow
from tests.receiver_behaviours import REDIRECTS, accept, respond
from tests.webhook_receivers import Receiver

NAME = "hooks.example.invalid"  # which has no address


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Addresses to which connections are opened. Only one to this machine is made."""
    addresses: list[str] = []
    opened: list[socket.socket] = []

    def open_socket(_: int, address: Any) -> socket.socket | int:
        family, kind, protocol, (host, *_rest) = address
        addresses.append(host)
        if host not in ("127.0.0.1", "::1"):
            return int(pycurl.SOCKET_BAD)
        opened.append(socket.socket(family, kind, protocol))
        return opened[-1]

    monkeypatch.setattr(sending, "UNUSED", LifoQueue())
    monkeypatch.setitem(sending.OPTIONS, pycurl.OPENSOCKETFUNCTION, open_socket)
    yield addresses
    for each in opened:
        each.close()


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Resolution, int], None]:
    """Return a function that lets `NAME` resolve to the results of a resolution, one for each new connection."""

    def let(resolution: Resolution, port: int) -> None:
        results = list(resolution.results)

        def look_up(*_: object, **__: object) -> list[Any]:
            present = results.pop(0) if len(results) > 1 else results[0]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in present]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

    return let


@pytest.fixture
def listener() -> Iterator[Receiver]:
    with Receiver(accept) as receiver:
        yield receiver


def attempt(url: str) -> ReceivedResponse:
    """Send to an address, as if it had been stored before the rules for addresses."""
    try:
        return sending.send(parse_url(url), b"{}", {})
    except AddressRefused as error:
        return ReceivedResponse(error=str(error))


def test_there_are_forty_tricks() -> None:
    assert len({*HOSTS, *URLS.values()}) + len(RESOLUTIONS) >= 40


def test_trick_gets_no_connection(connected: list[str], listener: Receiver) -> None:
    hosts = [f"{scheme}://{host}:{listener.port}/hook" for host in HOSTS for scheme in ("https", "http")]
    for url in (*hosts, *(url.format(port=listener.port) for url in URLS.values())):
        reply = attempt(url)

        assert (reply.status, connected, listener.connections) == (None, [], 0), url
        assert reply.error, url


def test_name_leads_to_checked_addresses_only(
    answer: Callable[[Resolution, int], None], connected: list[str], listener: Receiver
) -> None:
    for name, resolution in RESOLUTIONS.items():
        connected.clear()
        answer(resolution, listener.port)

        for _ in range(4):  # each is a new connection, which is checked again
            reply = attempt(f"https://{NAME}:{listener.port}/hook")
            assert reply.status is None, name
            assert reply.error, name

        assert (frozenset(connected), listener.connections) == (resolution.connects_to, 0), name


def test_name_that_does_not_resolve_ends_in_time(monkeypatch: pytest.MonkeyPatch, connected: list[str]) -> None:
    released = Event()
    monkeypatch.setattr(sending, "WEBHOOK_CONNECT_LIMIT", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(60) and [])

    reply = attempt(f"https://{NAME}/hook")

    assert (reply.error, connected, released.is_set()) == ("The name could not be resolved in time.", [], False)
    released.set()


@pytest.mark.parametrize("networks", [["127.0.0.0/8"], ["127.0.0.1/32", "::1/128"]])
def test_allowed_network_is_connected_to(
    networks: list[str],
    settings: Settings,
    answer: Callable[[Resolution, int], None],
    connected: list[str],
    listener: Receiver,
) -> None:
    allow(settings, *networks)
    answer(Resolution([["127.0.0.1"]]), listener.port)

    reply = attempt(f"http://{NAME}:{listener.port}/hook")

    assert (reply.status, connected, listener.connections) == (204, ["127.0.0.1"], 1)
    assert listener.received[0].headers["host"] == f"{NAME}:{listener.port}"


def test_allowed_network_allows_http_to_no_other(settings: Settings, connected: list[str]) -> None:
    allow(settings, "127.0.0.0/8")

    for host in ("10.0.0.1", "[::1]", "169.254.169.254", "[::ffff:10.0.0.1]", GLOBAL):
        assert (attempt(f"http://{host}/hook").status, connected) == (None, []), host


def test_redirect_is_not_followed(settings: Settings, connected: list[str], listener: Receiver) -> None:
    allow(settings, "127.0.0.0/8")

    for number, status in enumerate(REDIRECTS, start=1):
        with Receiver(respond(status, f"Location: {listener.url}")) as redirecting:
            reply = attempt(redirecting.url)

        assert (reply.status, connected, listener.connections) == (status, ["127.0.0.1"] * number, 0)


def test_proxies_of_the_environment_are_not_used(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, connected: list[str], listener: Receiver
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
    allow(settings, "127.0.0.0/8")
    with Receiver(accept) as receiver:
        assert attempt(receiver.url).status == 204
        assert attempt(f"https://{GLOBAL}/").status is None

    assert (set(connected), listener.connections) == ({"127.0.0.1", GLOBAL}, 0)
