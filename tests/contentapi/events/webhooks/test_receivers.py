"""What receivers may do: no response keeps a sender longer than its limits, takes its memory, or makes it fail."""

import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import LifoQueue

import pytest
from django.utils import timezone
from pytest_django import Settings

from contentapi.events.webhooks import sending
from contentapi.events.webhooks.addresses import parse_url
from contentapi.events.webhooks.models import Delivery, DeliveryState
from contentapi.events.webhooks.retries import judge
from contentapi.events.webhooks.sending import MAX_KEPT, ReceivedResponse
from tests.certificates import Authority
from tests.environment import set_environment
from tests.receiver_behaviours import ENDLESS, FAILING, LIMIT, ODD_SUCCESSES, SLOW, close_after, fail_if, respond
from tests.webhook_receivers import Behaviour, Receiver

MEGABYTE = 1_000_000
WHOLE = 0.5  # seconds in place of the 15 of an attempt


@pytest.fixture(autouse=True)
def allow_local_network(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "UNUSED", LifoQueue())  # whose authorities may be others
    set_environment(settings, CONTENTAPI_WEBHOOK_NETWORKS="127.0.0.0/8")


@pytest.fixture
def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "WEBHOOK_LIMIT", WHOLE)


def send(receiver: Receiver, times: int = 1) -> list[ReceivedResponse]:
    """Send some requests, one after the other on a connection while it can be used."""
    target = parse_url(receiver.url)
    return [
        sending.send(target, f'{{"number": {number}}}'.encode(), {"webhook-id": f"evt_{number}"})
        for number in range(times)
    ]


def is_success(reply: ReceivedResponse) -> bool:
    return judge(Delivery(), reply, timezone.now(), 0.1).state is DeliveryState.DELIVERED


@pytest.mark.usefixtures("shorten")
def test_slow_response_ends_in_time() -> None:
    with ExitStack() as stack, ThreadPoolExecutor(len(SLOW)) as threads:
        receivers = [stack.enter_context(Receiver(behave)) for behave in SLOW.values()]
        begin = time.monotonic()
        replies = [reply for (reply,) in threads.map(send, receivers)]

        assert time.monotonic() - begin < WHOLE + 5  # the machine may be busy; the responses have no end
    for name, reply in zip(SLOW, replies, strict=True):
        assert reply.status == 200 or "in time" in reply.error
        assert reply.status is None or "body" in name or "chunk" in name


@pytest.mark.thorough
@pytest.mark.parametrize("behave", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.usefixtures("shorten")
def test_endless_response_is_cut_off(behave: Behaviour) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Receiver(behave) as receiver:
        (reply,) = send(receiver)

        assert receiver.sent < LIMIT / 4 or behave is ENDLESS["a chunk extension without an end"]  # only in time
        assert len(reply.body) <= MAX_KEPT
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 30 * MEGABYTE


def test_wrong_response_is_a_failure() -> None:
    for name, behave in FAILING.items():
        with Receiver(behave) as receiver:
            (reply,) = send(receiver)

            assert len(receiver.received) == 1, name
        assert not is_success(reply), name
        assert reply.status or reply.error, name


def test_odd_response_is_a_success_and_so_is_the_next_one() -> None:
    for name, behave in ODD_SUCCESSES.items():
        with Receiver(behave) as receiver:
            replies = send(receiver, times=3)

            assert [is_success(reply) for reply in replies] == [True, True, True], name
            assert [each.id for each in receiver.received] == ["evt_0", "evt_1", "evt_2"], name
        assert all(len(reply.body) <= MAX_KEPT for reply in replies), name


def test_connection_is_used_again_and_replaced_when_the_receiver_has_closed_it() -> None:
    with Receiver(close_after(2)) as receiver:
        replies = send(receiver, times=6)

        assert [reply.status for reply in replies] == [204] * 6
        assert [each.connection for each in receiver.received] == [1, 1, 2, 2, 3, 3]


def test_connection_of_one_host_is_not_used_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "resolve", lambda *_: ["127.0.0.1"])
    with Receiver(respond(204)) as receiver:
        for host in ("a.example", "a.example", "b.example"):
            sending.send(parse_url(f"http://{host}:{receiver.port}/"), b"{}", {})

        assert [each.connection for each in receiver.received] == [1, 1, 2]


def test_unused_connection_keeps_no_body() -> None:
    body = 100_000 * b"x"
    before = sys.getrefcount(body)
    with Receiver(respond(200)) as receiver:
        sending.send(parse_url(receiver.url), body, {})

        assert sys.getrefcount(body) == before


def test_event_is_sent_again_only_if_the_used_connection_gave_no_byte() -> None:
    with Receiver(fail_if(lambda exchange: exchange.number == 1, status=500)) as receiver:
        replies = send(receiver, times=3)

        assert [reply.status for reply in replies] == [204, 500, 204]
        assert len(receiver.received) == 3


def test_closed_port_is_a_failure_that_says_so() -> None:
    with Receiver(respond(200)) as receiver:
        pass

    (reply,) = send(receiver)

    assert reply.status is None
    assert "refused" in reply.error


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that the sender trusts, as one of the system."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    return authority


def test_certificate_with_the_name_is_accepted(authority: Authority) -> None:
    with Receiver(respond(200), tls=authority.create_context("localhost", "127.0.0.1")) as receiver:
        (reply,) = send(receiver)

        assert (reply.status, receiver.received[0].headers["host"]) == (200, f"127.0.0.1:{receiver.port}")


@pytest.mark.parametrize(
    ("names", "days"),
    [(["example.com"], 1), (["127.0.0.2"], 1), (["127.0.0.1"], -1)],
    ids=["name", "address", "expired"],
)
def test_wrong_certificate_gets_no_request(authority: Authority, names: list[str], days: int) -> None:
    with Receiver(respond(200), tls=authority.create_context(*names, days=days)) as receiver:
        (reply,) = send(receiver)

        assert receiver.received == []
    assert reply.status is None
    assert "TLS failed" in reply.error


@pytest.mark.usefixtures("authority")
def test_certificate_of_an_unknown_authority_gets_no_request(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with Receiver(respond(200), tls=Authority(other).create_context("127.0.0.1")) as receiver:
        (reply,) = send(receiver)

        assert (receiver.received, reply.status) == ([], None)
