from collections import Counter

from benchmarks.hostile.victim import RATE, Figures, Victim
from tests.benchmarks.upstream import run_upstream


def test_server_that_answers_at_once_answers_every_request_in_time() -> None:
    with run_upstream() as server:
        figures = Victim(server.port, "key").measure(1)

    assert len(figures.times) == RATE
    assert figures.answered == 1
    assert not figures.failures


def test_every_request_has_a_traceparent_of_its_own_and_the_key() -> None:
    with run_upstream() as server:
        Victim(server.port, "key").measure(1)

    assert len({request.headers["traceparent"] for request in server.received}) == 1 + RATE
    assert {request.headers["X-API-Key"] for request in server.received} == {"key"}


def test_a_third_of_the_requests_and_not_all_come_on_new_connections() -> None:
    with run_upstream() as server:
        Victim(server.port, "key").measure(1)

    connections = {request.client for request in server.received}
    assert RATE // 3 <= len(connections) < RATE


def test_server_that_answers_too_late_answers_no_request_in_time() -> None:
    with run_upstream(delay=2.5) as server:
        figures = Victim(server.port, "key").measure(0.2)

    assert figures.answered == 0
    assert figures.percentile(50) == float("inf")


def test_response_with_another_status_counts_as_not_answered() -> None:
    with run_upstream(status=503) as server:
        figures = Victim(server.port, "key").measure(0.2)

    assert figures.answered == 0
    assert figures.failures == {"status 503": len(figures.times)}


def test_two_lost_requests_of_a_hundred_show_in_p99_and_not_in_p50() -> None:
    figures = Figures([0.01] * 98 + [float("inf")] * 2, Counter())

    assert figures.answered == 0.98
    assert figures.percentile(50) == 0.01
    assert figures.percentile(99) == float("inf")
