"""A circuit breaker, with a clock of its own."""

from contentapi.core.circuit_breaker import CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_service_that_works_is_used() -> None:
    breaker = CircuitBreaker(5, Clock())

    assert [breaker.may_try() for _ in range(3)] == [True] * 3
    assert breaker.record_success() is False


def test_failed_service_is_tried_once_in_each_interval() -> None:
    clock = Clock()
    breaker = CircuitBreaker(5, clock)
    assert breaker.record_failure() is True

    attempts = []
    for _ in range(12):
        clock.now += 1
        attempts.append(breaker.may_try())

    assert [index + 1 for index, is_allowed in enumerate(attempts) if is_allowed] == [5, 10]


def test_failure_is_logged_once_in_each_interval() -> None:
    clock = Clock()
    breaker = CircuitBreaker(5, clock)

    assert [breaker.record_failure(), breaker.record_failure()] == [True, False]
    clock.now += 5
    assert breaker.record_failure() is True


def test_recovery_is_reported_once() -> None:
    breaker = CircuitBreaker(5, Clock())
    breaker.record_failure()

    assert [breaker.record_success(), breaker.record_success()] == [True, False]
    assert breaker.may_try()
