"""The decisions about a replica, from states of servers. `tests/e2e/test_replicas.py` has real servers."""

from itertools import count

import pytest

from contentapi.conf.timeouts import OLDEST_STATE
from contentapi.db.watch import servers
from contentapi.db.watch.primary import GONE_AFTER, Primary, State
from contentapi.db.watch.servers import Replica

TIMES = count(1000.0, 1e-6)


def get_time() -> float:
    return next(TIMES)


@pytest.fixture(autouse=True)
def slow_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a microsecond pass between two looks at the clock, so that no test depends on the speed of the machine."""
    monkeypatch.setattr(servers, "monotonic", get_time)


class Watched:
    """A primary and a replica whose states a test sets."""

    def __init__(self, max_lag: float = 4) -> None:
        self.primary = Primary(max_lag)
        self.replica = Replica("replica1", self.primary, max_lag)

    def write(self, lsn: int, *, timeline: int = 1, cluster: int = 7, ago: float = 0) -> None:
        self.primary.accept_state(State(False, lsn, timeline, cluster, get_time() - ago))

    def lose_primary(self) -> None:
        for _ in range(GONE_AFTER):
            self.primary.accept_failure("refused")

    def at(self, lsn: int, *, cluster: int = 7, ago: float = 0) -> State:
        return State(True, lsn, 0, cluster, get_time() - ago)

    def replay(self, lsn: int, *, cluster: int = 7) -> str:
        """Let the replica have replayed a position. Return why it is not usable, or an empty string."""
        self.replica.accept_state(self.at(lsn, cluster=cluster))
        assert self.replica.is_usable == (not self.replica.reason)
        return self.replica.reason


@pytest.fixture
def watched() -> Watched:
    watched = Watched()
    watched.write(100)
    assert watched.replay(100) == ""
    return watched


def test_replica_is_not_used_before_the_primary_is_known() -> None:
    assert Watched().replay(100) == "the primary's position is not known yet"


def test_replica_is_used_if_the_primary_is_gone_from_the_start() -> None:
    watched = Watched()
    watched.lose_primary()
    assert watched.replay(100) == ""


def test_idle_primary_has_no_lag(watched: Watched) -> None:
    watched.primary.states.clear()
    watched.write(100, ago=3.5)
    assert watched.replay(100) == ""


def test_position_of_the_primary_that_is_too_old_proves_nothing_unless_it_fails(watched: Watched) -> None:
    watched.primary.states.clear()
    watched.write(100, ago=4.5)
    assert watched.replay(100) == "it lags more than 4 s"
    watched.primary.accept_failure("refused")
    assert watched.replay(100) == ""


def test_lag_is_the_time_since_the_primary_was_there() -> None:
    watched = Watched()
    for lsn, ago in ((100, 3), (110, 2), (120, 1)):
        watched.write(lsn, ago=ago)
    lags = {lsn: watched.primary.measure_lag(watched.at(lsn)) for lsn in (99, 100, 115, 120)}
    assert lags == {99: None, 100: pytest.approx(3, abs=0.01), 115: pytest.approx(2, abs=0.01), 120: 0}


def test_lagging_replica_returns_below_half_of_the_accepted_lag(watched: Watched) -> None:
    watched.primary.states.clear()
    for lsn, ago in ((100, 5), (110, 3), (120, 1), (130, 0)):
        watched.write(lsn, ago=ago)
    assert watched.replay(105) == "it lags more than 4 s"
    assert watched.replay(110) == "it lags more than 2 s"
    assert watched.replay(120) == ""


def test_replica_in_use_remains_in_use_while_the_primary_is_gone(watched: Watched) -> None:
    watched.write(200)
    watched.lose_primary()
    assert watched.replay(150) == ""


def test_replica_with_unknown_lag_is_not_used_while_the_primary_is_gone(watched: Watched) -> None:
    watched.write(200)
    watched.lose_primary()
    watched.replica.accept_failure("refused")
    assert watched.replay(150) == "it lags, and the primary is gone"
    assert watched.replay(200) == ""


def test_promoted_replica_is_left_out(watched: Watched) -> None:
    watched.replica.accept_state(State(False, 120, 2, 7, get_time()))
    assert not watched.replica.is_usable
    assert "it was promoted" in watched.replica.reason


def test_replica_of_another_database_is_left_out(watched: Watched) -> None:
    assert watched.replay(100, cluster=8) == "it is a replica of another database"


def test_replica_that_does_not_follow_a_promotion_is_left_out(watched: Watched) -> None:
    watched.write(150, timeline=2)
    assert watched.replay(120) == "it does not follow the primary"
    assert watched.replay(150) == ""


def test_replica_ahead_of_a_promoted_primary_is_left_out(watched: Watched) -> None:
    watched.replay(180)
    watched.write(150, timeline=2)
    assert watched.replay(180) == "it does not follow the primary"
    watched.write(200, timeline=2)
    assert watched.replay(180) == "it does not follow the primary"


def test_replica_from_an_older_backup_must_reach_the_primary(watched: Watched) -> None:
    watched.write(150)
    assert watched.replay(90) == "it does not follow the primary"
    assert watched.replay(150) == ""


def test_replica_is_left_out_after_a_failed_read_until_it_responds(watched: Watched) -> None:
    watched.replica.set_reason("a read failed")
    assert not watched.replica.is_usable
    assert watched.replay(100) == ""


def test_old_state_does_not_let_reads_use_a_replica_unless_the_primary_is_gone(watched: Watched) -> None:
    watched.replica.accept_state(watched.at(100, ago=OLDEST_STATE + 0.1))
    assert not watched.replica.is_usable
    watched.lose_primary()
    assert watched.replica.is_usable


def test_one_failure_of_a_busy_primary_is_not_an_outage(watched: Watched) -> None:
    watched.primary.accept_failure("no response within 1 s")
    assert not watched.primary.is_gone
    watched.write(110)
    watched.primary.accept_failure("no response within 1 s")
    assert not watched.primary.is_gone
    watched.primary.accept_failure("no response within 1 s")
    assert watched.primary.is_gone
