"""What the worker answers to requests: the same as gunicorn's own, whatever was asked before on a connection."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contentapi.gunicorn_server import Answer, Client, Server, request
from tests.contentapi.worker_requests import CLOSED, HARMLESS, JSON, KEPT
from tests.thoroughness import examples

pytestmark = pytest.mark.processes

OK = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("worker") / "run", "Worker")
    yield server
    server.kill()


@pytest.fixture(scope="module")
def gunicorns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("gunicorns") / "run", "GracefulWorker")
    yield server
    server.kill()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.connect() as client:
        yield client


def told(answer: Answer | None) -> dict[str, Any]:
    """Return what the application was given."""
    assert answer is not None
    assert answer.status == OK, answer
    value: dict[str, Any] = json.loads(answer.body)
    return value


@pytest.mark.parametrize("name", KEPT)
def test_the_first_second_and_third_answers_are_the_same_and_gunicorns(
    server: Server, gunicorns: Server, name: str
) -> None:
    first, *others = server.ask(*[KEPT[name]] * 3)

    assert first is not None
    assert others == [first, first]
    assert gunicorns.ask(*[KEPT[name]] * 3) == [first, first, first]


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("before", [0, 2])
def test_what_closes_the_connection_is_answered_as_by_gunicorn(
    server: Server, gunicorns: Server, name: str, before: int
) -> None:
    requests = [*HARMLESS * before, CLOSED[name], KEPT["a body"]]

    answers = server.ask(*requests)

    assert answers == gunicorns.ask(*requests)
    assert answers[-1] is None
    assert told(server.ask_once(KEPT["a body"]))["body"] == "{}"


def test_a_head_is_read_once_for_bodies_of_any_length(client: Client) -> None:
    bodies = [b"", b"x", b"x" * 10, b"x" * 1000, b""]

    readers = [client.ask(request("POST /how HTTP/1.1", body=body)) for body in bodies]

    assert [reader.body for reader in readers if reader] == [b"Body", *[b"BytesIO"] * 4]


def test_a_known_head_has_the_body_that_was_sent_this_time(client: Client) -> None:
    for body in (b"one", b"three", b"", b"seventeen" * 100):
        environ = told(client.ask(request(body=body)))

        assert (environ["CONTENT_LENGTH"], environ["body"]) == (str(len(body)), body.decode())


@pytest.mark.parametrize(
    ("line", "headers"),
    [
        ("POST /echo HTTP/1.1", ["Authorization: Bearer b"]),
        ("POST /echo HTTP/1.1", ["authorization: Bearer a"]),
        ("POST /echo HTTP/1.1", ["Authorization: Bearer a "]),
        ("POST /echo HTTP/1.1", ["Authorization: Bearer a", JSON]),
        ("POST /echo HTTP/1.1", []),
        ("POST /other HTTP/1.1", ["Authorization: Bearer a"]),
        ("POST /echo?query HTTP/1.1", ["Authorization: Bearer a"]),
        ("PUT /echo HTTP/1.1", ["Authorization: Bearer a"]),
        ("POST /echo HTTP/1.0", ["Authorization: Bearer a"]),
    ],
)
def test_a_head_that_differs_is_read(server: Server, gunicorns: Server, line: str, headers: list[str]) -> None:
    known = request("POST /echo HTTP/1.1", "Authorization: Bearer a", body=b"x")

    answers = server.ask(known, known, request(line, *headers, body=b"x"))

    assert answers[2] == gunicorns.ask_once(request(line, *headers, body=b"x"))


def test_more_heads_than_are_kept_are_told_apart(client: Client) -> None:
    for round_ in range(2):
        for number in range(12):
            environ = told(client.ask(request(f"POST /echo?{number} HTTP/1.1", body=b"%d" % round_)))

            assert (environ["QUERY_STRING"], environ["body"]) == (str(number), str(round_))


@pytest.mark.parametrize("cuts", ["each byte", "head and body", "within the head's end", "within the body"])
def test_a_known_request_in_pieces_is_answered_the_same(client: Client, cuts: str) -> None:
    whole = request("POST /echo HTTP/1.1", "A: b", body=b"body")
    end = whole.index(b"\r\n\r\n")
    places = {"each byte": range(1, len(whole)), "head and body": [end + 4], "within the head's end": [end + 2]}
    at = [0, *places.get(cuts, [end + 6]), len(whole)]

    first = client.ask(whole)
    again = client.ask(*[whole[start:stop] for start, stop in pairwise(at)])

    assert first is not None
    assert again == first == client.ask(whole)


def test_requests_in_one_packet_are_answered_in_their_order(client: Client) -> None:
    requests = [request("POST /echo HTTP/1.1", body=body) for body in (b"1", b"22", b"", b"4444")]

    for _ in range(2):
        client.send(b"".join(requests))

        assert [told(client.read())["body"] for _ in requests] == ["1", "22", "", "4444"]


def test_what_is_longer_than_announced_is_the_next_request(client: Client) -> None:
    known = request(body=b"abc")
    first = client.ask(known)

    client.send(known + b"GARBAGE\r\n\r\n")

    assert client.read() == first
    refused = client.read()
    assert refused is not None
    assert (refused.status, refused.closes, client.is_closed()) == (400, True, True)


def test_a_body_shorter_than_announced_is_waited_for(client: Client) -> None:
    client.ask(request(body=b"abc"))

    answer = client.ask(request(body=b"abc", length=6), b"def")

    assert told(answer)["body"] == "abcdef"


def test_a_client_that_ends_before_its_body_is_answered_as_by_gunicorn(server: Server, gunicorns: Server) -> None:
    def end_early(server: Server) -> Answer | None:
        with server.connect() as client:
            client.ask(request(body=b"abc"))
            client.send(request(body=b"abc", length=6))
            client.socket.shutdown(1)
            return client.read()

    assert end_early(server) == end_early(gunicorns)


@pytest.mark.parametrize("value", [b"a\r\nSet-Cookie: b", b"a\nb", b"a\r", b"\0", b"\x7f"])
def test_a_header_value_with_a_line_break_is_refused_after_good_ones(client: Client, value: bytes) -> None:
    for _ in range(3):
        client.ask(request("POST /header HTTP/1.1", body=b"fine"))

    refused = client.ask(request("POST /header HTTP/1.1", body=value))

    assert refused is not None
    assert (refused.status, refused.closes, client.is_closed()) == (500, True, True)
    assert not any("Set-Cookie" in line or "X-Told" in line for line in refused.head)


POOL = [*KEPT.values(), *CLOSED.values(), *HARMLESS]
Sequence = list[tuple[bytes, list[int], bool]]
SEQUENCES = st.lists(st.sampled_from(POOL), min_size=1, max_size=4).flatmap(
    lambda few: st.lists(
        st.tuples(
            st.sampled_from(few), st.lists(st.integers(1, 200), max_size=2, unique=True).map(sorted), st.booleans()
        ),
        min_size=2,
        max_size=6,
    )
)


def answers_to(server: Server, sequence: Sequence) -> list[Answer | None]:
    """Send each request, cut where it says, and some together with the next; return all answers until the end."""
    answers: list[Answer | None] = []
    held, methods = b"", []
    with server.connect() as client:
        for number, (each, cuts, with_the_next) in enumerate(sequence):
            held += each
            methods.append(each.split(b" ", 1)[0])
            if with_the_next and number + 1 < len(sequence):
                continue
            at = [0, *[cut for cut in cuts if cut < len(held)], len(held)]
            try:
                client.send(*[held[start:stop] for start, stop in pairwise(at)])
            except ConnectionError:
                return [*answers, None]
            for method in methods:
                answers.append(client.read(method))
                if answers[-1] is None:
                    return answers
            held, methods = b"", []
        assert client.rest() == b""
    return answers


@pytest.mark.property
def test_any_sequence_of_requests_is_answered_as_by_gunicorn(server: Server, gunicorns: Server) -> None:
    @settings(max_examples=examples(300), deadline=None)
    @given(sequence=SEQUENCES)
    def is_answered(sequence: Sequence) -> None:
        assert answers_to(server, sequence) == answers_to(gunicorns, sequence)

    is_answered()
