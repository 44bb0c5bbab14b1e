"""Counting in a real Redis, and without one."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from msgspec.structs import replace
from pytest_django import Settings

from contentapi.conf.timeouts import REDIS_RETRY_INTERVAL
from contentapi.core import redis
from contentapi.rate_limits.counters import InProcessCounter
from contentapi.rate_limits.limits import Charge, Limit
from contentapi.rate_limits.redis_windows import RedisCounter
from tests.concurrency import run_in_threads
from tests.contentapi.rate_limits.counting import TEN, Clock
from tests.contentapi.rate_limits.test_account import limited, make_account
from tests.deployment.redis_server import RedisServer

pytestmark = pytest.mark.servers


class Four(Limit):
    text = "4/second"


FOUR = Four("anonymous")


@contextmanager
def redis_counter(url: str, clock: Any = time.monotonic) -> Iterator[RedisCounter]:
    counter = RedisCounter(url, clock)
    yield counter
    counter.redis.client.close()


def consume(counter: RedisCounter, amount: int = 1, limit: Limit = TEN) -> Any:
    accepted, [status] = counter.consume("somebody", [Charge.to(amount, limit)])
    return accepted, status


def get_logged_messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "contentapi.rate_limits"]


def test_processes_share_one_limit(redis_server: RedisServer) -> None:
    with redis_counter(redis_server.url) as one, redis_counter(redis_server.url) as other:
        accepted = [consume(counter)[0] for _ in range(8) for counter in (one, other)]
        _, status = consume(one)

    assert accepted == [True] * 10 + [False] * 6
    assert status.remaining == 0
    assert 30 < status.wait <= 60  # less than 60 on a busy machine


@given(amounts=st.lists(st.integers(1, 10), min_size=1, max_size=12), refunds=st.sets(st.integers(0, 11)))
@examples(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
def test_redis_counts_as_this_process_does(redis_server: RedisServer, amounts: list[int], refunds: set[int]) -> None:
    here = InProcessCounter()
    with redis_counter(redis_server.url) as counter:
        counter.redis.client.flushall()
        for number, amount in enumerate(amounts):
            charges = [Charge.to(amount, TEN)]
            there, expected = counter.consume("somebody", charges), here.consume("somebody", charges)
            assert there[0] == expected[0]
            assert [status.remaining for status in there[1]] == [status.remaining for status in expected[1]]
            if expected[0] and number in refunds:  # one unit
                counter.refund("somebody", charges)
                here.refund("somebody", charges)


@pytest.mark.parametrize("amount", [1, 3, 4, 9])
def test_request_succeeds_after_the_wait(redis_server: RedisServer, amount: int) -> None:
    with redis_counter(redis_server.url) as counter:
        consume(counter, 2, FOUR)
        accepted, status = consume(counter, 2, FOUR)
        while accepted:  # on a busy machine, a second may pass between two requests
            accepted, status = consume(counter, amount, FOUR)
        assert status.wait == 1

        time.sleep(status.wait)

        assert consume(counter, amount, FOUR)[0]


def test_redis_url_makes_requests_count_in_redis(redis_server: RedisServer, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, redis_url=redis_server.url)
    limited(settings, anonymous="7/minute")

    account = make_account()
    account.charge(2)

    assert account.headers["RateLimit"].startswith('"anonymous";r=5;t=')
    with redis_counter(redis_server.url) as counter:
        key = b'contentapi:rate:"anonymous";q=7;w=60/203.0.113.7'
        assert sorted(counter.redis.client.keys()) == [key, key + b":used"]


def test_requests_are_counted_in_process_until_redis_is_available_again(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with redis_counter(redis_server.url, clock) as counter:
        assert consume(counter, 4)[1].remaining == 6
        redis_server.kill()
        without_redis = [consume(counter)[0] for _ in range(12)]
        redis_server.start()
        before_the_retry = consume(counter)[0]

        clock.now += REDIS_RETRY_INTERVAL
        after_the_retry = consume(counter)

    assert without_redis == [True] * 10 + [False] * 2  # by the windows of this process
    assert before_the_retry is False
    assert (after_the_retry[0], after_the_retry[1].remaining) == (True, 9)  # the new Redis is empty
    assert get_logged_messages(caplog) == [
        "Redis is unavailable (ConnectionError). Rate limits are counted in this process.",
        "Redis is available again.",
    ]


def test_redis_that_hangs_delays_one_request_per_interval(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis, "REDIS_TIMEOUT", 2)
    with redis_counter(redis_server.url, Clock()) as counter:
        redis_server.hang()
        begin = time.monotonic()

        accepted = [consume(counter)[0] for _ in range(10)]

        assert time.monotonic() - begin < 15  # one wait of 2 s, where one for each would take 20 s
        redis_server.go_on()
    assert accepted == [True] * 10
    assert [line[:38] for line in get_logged_messages(caplog)] == ["Redis is unavailable (TimeoutError). R"]


def test_threads_that_wait_for_the_same_hanging_redis_log_it_once(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis, "REDIS_TIMEOUT", 0.5)
    with redis_counter(redis_server.url, Clock()) as counter:
        redis_server.hang()
        run_in_threads(partial(consume, counter), 8)
        redis_server.go_on()

    assert len(get_logged_messages(caplog)) == 1


def test_redis_that_rejects_the_password_is_down_and_no_log_has_it(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with redis_counter(redis_server.url.replace("//", "//somebody:hush@")) as counter:
        assert consume(counter)[0]

    assert [line[:44] for line in get_logged_messages(caplog)] == ["Redis is unavailable (AuthenticationError). "]
    assert "hush" not in caplog.text


def test_refund_in_redis_makes_room_for_its_own_key_only(redis_server: RedisServer) -> None:
    mine, others = (replace(Charge.to(1, TEN), key=key) for key in ("mine", "another's"))
    with redis_counter(redis_server.url) as counter:
        for charge in [mine, others] * 10:
            assert counter.consume("", [charge])[0]

        counter.refund("", [mine])

        assert [counter.consume("", [charge])[0] for charge in (mine, mine, others)] == [True, False, False]


def test_refund_without_redis_gives_back_units_counted_in_process(redis_server: RedisServer) -> None:
    with redis_counter(redis_server.url) as counter:
        redis_server.kill()
        assert [consume(counter)[0] for _ in range(11)] == [True] * 10 + [False]

        counter.refund("somebody", [Charge.to(1, TEN)])

        assert [consume(counter)[0] for _ in range(2)] == [True, False]


def test_refund_that_fails_in_redis_raises_nothing(redis_server: RedisServer) -> None:
    with redis_counter(redis_server.url) as counter:
        consume(counter)
        redis_server.kill()

        counter.refund("somebody", [Charge.to(1, TEN)])

        assert counter.redis.is_failing
