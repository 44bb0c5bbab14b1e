from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from benchmarks.hostile import victim
from benchmarks.hostile.victim import RATE, Figures, Victim
from tests.benchmarks.upstream import Received, run_upstream


class Measurement(NamedTuple):
    figures: Figures
    received: list[Received]


@pytest.fixture(scope="module", autouse=True)
def wait_for_a_busy_machine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(victim, "LIMIT", 60)
        patch.setattr(victim, "IDLE_LIMIT", 60)
        yield


@pytest.fixture(scope="module")
def measurement() -> Measurement:
    """The measurement of a fast server for a second, and the requests that it received."""
    with run_upstream() as server:
        return Measurement(Victim(server.port, "key").measure(1), server.received)


def test_all_requests_to_a_fast_server_count_as_answered(measurement: Measurement) -> None:
    assert len(measurement.figures.times) == RATE
    assert measurement.figures.answered == 1
    assert not measurement.figures.failures


def test_each_request_has_a_new_traceparent_and_the_key(measurement: Measurement) -> None:
    assert len({request.headers["traceparent"] for request in measurement.received}) == 1 + RATE
    assert {request.headers["X-API-Key"] for request in measurement.received} == {"key"}


def test_at_least_a_third_of_the_requests_use_new_connections(measurement: Measurement) -> None:
    connections = {request.client for request in measurement.received}
    assert RATE // 3 <= len(connections) < RATE


def test_no_request_to_a_slow_server_counts_as_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(victim, "LIMIT", 0.2)
    with run_upstream(delay=0.5) as server:
        figures = Victim(server.port, "key").measure(0.2)

    assert figures.answered == 0
    assert figures.percentile(50) == float("inf")


def test_response_with_another_status_does_not_count_as_answered() -> None:
    with run_upstream(status=503) as server:
        figures = Victim(server.port, "key").measure(0.2)

    assert figures.answered == 0
    assert figures.failures == {"status 503": len(figures.times)}


def test_two_lost_requests_of_a_hundred_change_p99_only() -> None:
    figures = Figures([0.01] * 98 + [float("inf")] * 2, Counter())

    assert figures.answered == 0.98
    assert figures.percentile(50) == 0.01
    assert figures.percentile(99) == float("inf")
