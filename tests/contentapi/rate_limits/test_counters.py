"""Counting in a real Redis, and without one."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.core.errors import RateLimited
from contentapi.rate_limits.counters import PAUSE, RedisCounter
from contentapi.rate_limits.limits import Charge, Limit
from tests.contentapi.rate_limits.test_account import WRITER, account_of, limited
from tests.contentapi.rate_limits.test_memory import Clock
from tests.redis_server import RedisServer

pytestmark = pytest.mark.processes


class Four(Limit):
    text = "4/second"


class Ten(Limit):
    text = "10/minute"


FOUR, TEN = Four("anonymous"), Ten("anonymous")


@contextmanager
def sharing(url: str, clock: Any = time.monotonic) -> Iterator[RedisCounter]:
    counter = RedisCounter(url, clock)
    yield counter
    counter.redis.storage.storage.close()


def take(counter: RedisCounter, amount: int = 1, limit: Limit = TEN) -> Any:
    taken, [standing] = counter.take("somebody", [Charge.to(amount, limit)])
    return taken, standing


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "contentapi.rates"]


def test_processes_share_one_limit(redis_server: RedisServer) -> None:
    with sharing(redis_server.url) as one, sharing(redis_server.url) as other:
        taken = [take(counter)[0] for _ in range(8) for counter in (one, other)]
        _, standing = take(one)

    assert taken == [True] * 10 + [False] * 6
    assert (standing.remaining, standing.wait) == (0, 60)


def test_threads_take_no_more_than_the_limit_together(redis_server: RedisServer) -> None:
    accepted: list[bool] = []
    with sharing(redis_server.url) as counter:
        threads = [Thread(target=lambda: accepted.extend(take(counter)[0] for _ in range(10))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sum(accepted) == 10


@pytest.mark.parametrize("amount", [1, 3, 4, 9])
def test_who_waits_as_long_as_told_has_room(redis_server: RedisServer, amount: int) -> None:
    with sharing(redis_server.url) as counter:
        take(counter, 2, FOUR)
        take(counter, 2, FOUR)
        taken, standing = take(counter, amount, FOUR)
        assert (taken, standing.wait) == (False, 1)

        time.sleep(standing.wait)

        assert take(counter, amount, FOUR)[0]


def test_the_setting_makes_requests_count_there(redis_server: RedisServer, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, redis_url=redis_server.url)
    limited(settings, anonymous="7/minute")

    account = account_of()
    account.charge(2)

    assert account.headers["RateLimit"].startswith('"anonymous";r=5;t=')
    with sharing(redis_server.url) as counter:
        assert counter.redis.storage.storage.keys() == [b"contentapi:LIMITER/anonymous/203.0.113.7/7/1/minute"]


def test_writes_are_taken_all_or_none_and_the_wait_is_true(redis_server: RedisServer, settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, redis_url=redis_server.url)
    limited(settings, writes="12/3seconds")
    account_of(WRITER).charge(1, writes=10)

    with pytest.raises(RateLimited) as refused:
        account_of(WRITER).charge(1, writes=5)
    small = account_of(WRITER)
    small.charge(1, writes=2)
    time.sleep(int(refused.value.headers["Retry-After"]))
    later = account_of(WRITER)
    later.charge(1, writes=5)

    assert '"authenticated";r=2998' in small.headers["RateLimit"]
    assert '"writes";r=0;' in small.headers["RateLimit"]
    assert '"authenticated";r=2997' in later.headers["RateLimit"]


def test_without_redis_requests_go_on_counted_here_and_it_is_used_again_when_it_is_back(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    with sharing(redis_server.url, clock) as counter:
        assert take(counter, 4)[1].remaining == 6
        redis_server.kill()
        gone = [take(counter)[0] for _ in range(12)]
        redis_server.start()
        still_left_alone = take(counter)[0]

        clock.now += PAUSE
        back = take(counter)

    assert gone == [True] * 10 + [False] * 2  # by the windows of this process
    assert still_left_alone is False
    assert (back[0], back[1].remaining) == (True, 9)  # the new Redis knows nothing of before
    assert told(caplog) == [
        "Redis fails (ConnectionError). Requests go on, counted in process: 0 so far. It is tried again in 5 s.",
        "Redis is back. 13 requests were counted in process meanwhile.",
    ]


def test_a_redis_that_stays_away_is_told_of_once_in_a_pause(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    redis_server.kill()
    with sharing(redis_server.url, clock) as counter:
        for _ in range(3):
            for _ in range(20):
                take(counter)
            clock.now += PAUSE

    assert [line.split(": ")[1] for line in told(caplog)] == [
        "0 so far. It is tried again in 5 s.",
        "20 so far. It is tried again in 5 s.",
        "40 so far. It is tried again in 5 s.",
    ]


def test_a_redis_that_hangs_holds_up_one_request_in_a_pause(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with sharing(redis_server.url, Clock()) as counter:
        take(counter)
        redis_server.hang()
        begin = time.monotonic()

        taken = [take(counter)[0] for _ in range(10)]

        assert time.monotonic() - begin < 1.5  # one wait of 0.2 s, where each would be 2 s
        redis_server.go_on()
    assert taken == [True] * 10
    assert [line[:28] for line in told(caplog)] == ["Redis fails (TimeoutError). "]


def test_threads_that_wait_for_the_same_hanging_redis_tell_of_it_once(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with sharing(redis_server.url, Clock()) as counter:
        redis_server.hang()
        threads = [Thread(target=take, args=(counter,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        redis_server.go_on()

    assert counter.counted_meanwhile == 8
    assert len(told(caplog)) == 1


def test_a_redis_that_refuses_the_password_is_a_redis_gone_and_no_log_repeats_it(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with sharing(redis_server.url.replace("//", "//somebody:hush@")) as counter:
        assert take(counter)[0]

    assert [line[:36] for line in told(caplog)] == ["Redis fails (AuthenticationError). R"]
    assert "hush" not in caplog.text


def test_a_refund_makes_room_in_redis_and_for_its_own_key_only(redis_server: RedisServer) -> None:
    mine, others = (Charge.to(1, TEN)._replace(key=key) for key in ("mine", "another's"))
    with sharing(redis_server.url) as counter:
        for charge in [mine, others] * 10:
            assert counter.take("", [charge])[0]

        counter.refund("", [mine])

        assert [counter.take("", [charge])[0] for charge in (mine, mine, others)] == [True, False, False]


def test_a_refund_without_redis_gives_back_what_was_counted_in_process(redis_server: RedisServer) -> None:
    with sharing(redis_server.url) as counter:
        redis_server.kill()
        assert [take(counter)[0] for _ in range(11)] == [True] * 10 + [False]

        counter.refund("somebody", [Charge.to(1, TEN)])

        assert [take(counter)[0] for _ in range(2)] == [True, False]


def test_a_refund_that_redis_does_not_take_raises_nothing(redis_server: RedisServer) -> None:
    with sharing(redis_server.url) as counter:
        take(counter)
        redis_server.kill()

        counter.refund("somebody", [Charge.to(1, TEN)])

        assert counter.gone
