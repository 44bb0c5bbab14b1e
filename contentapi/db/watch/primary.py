"""Watch the primary: notice within two seconds that it does not answer, and fail the requests that wait for it.

If a connection has waited since the last look, and neither a question of the thread nor any statement ends within
`ANSWER_LIMIT`, the database is silent: the thread cuts all connections, and connects before requests do. A server that
refuses connections is not silent. Without replicas, an idle process asks nothing. See
docs/decisions/0043-silent-database.md.
"""

import logging
from collections import deque
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from contentapi.conf.timeouts import ANSWER_LIMIT, QUESTION_INTERVAL
from contentapi.db.watch.link import Connect, Connection
from contentapi.db.watch.watch import (
    PROBE,
    READ_STATE,
    DatabaseSilent,
    State,
    Watch,
    build_end_of_backends,
    is_waiting,
)

LOG = logging.getLogger("contentapi.replicas")
GONE_AFTER = 2  # failures; a single one may be a slow answer of a busy primary


class PrimaryWatch(Watch):
    """Watches the primary. `max_lag` is the accepted lag of replicas in seconds, or None without replicas.

    `is_silent` is true from the moment at which the database was found not to answer until it answers again.
    """

    def __init__(self, max_lag: float | None) -> None:
        super().__init__(DEFAULT_DB_ALIAS)
        self.max_lag = max_lag
        self.is_silent = False
        self.is_pooled: bool | None = None  # unknown, and so possible, until the first response
        self.waiting: set[Connection] = set()  # at the last check
        self.unanswered_since: float | None = None
        self.lost: set[tuple[int, int]] = set()  # backend process and client port of connections that were cut
        self.failures = 0  # without a response between them
        self.latest: State | None = None
        # The newest states of one timeline, the oldest first, for somewhat longer than the accepted lag.
        self.states: deque[State] = deque(maxlen=int((max_lag or 0) / QUESTION_INTERVAL) + 4)

    def connect(self, parameters: dict[str, Any], connect: Connect) -> Any:
        """Return a connection, which is then watched. While the database is silent, raises `DatabaseSilent` at once."""
        if self.is_silent:
            raise DatabaseSilent
        try:
            connection = super().connect(parameters, connect)
        except DatabaseSilent:
            self.is_silent = True
            raise
        finally:
            self.start()
        if self.is_pooled is False and connection.info.parameter_status("in_hot_standby") != "on":
            self.note_return()  # before a write on this connection, after which its user reads from the primary
        return connection

    # --- Questions

    @property
    def answer_limit(self) -> float:
        return ANSWER_LIMIT + (0 if self.is_pooled is False else settings.TIMEOUTS.statement)

    @property
    def question(self) -> str:
        state = PROBE if self.max_lag is None else READ_STATE
        return f"{build_end_of_backends(self.lost)}; {state}" if self.lost else state

    def must_ask(self) -> bool:
        is_idle = self.max_lag is None and self.unanswered_since is None and self.link.connection is not None
        return self.is_silent or not is_idle

    def ask(self) -> None:
        if self.is_silent:
            self.link.close()  # a present connection does not show whether the server accepts new ones
        super().ask()

    def check_connections(self) -> bool:
        """Cut all connections if none has had a response for too long. Refuse new ones until there is one."""
        waiting = set(filter(is_waiting, self.list_connections()))
        still_waiting, has_finished = waiting & self.waiting, not self.waiting <= waiting
        self.waiting = waiting
        if has_finished or not still_waiting:
            self.unanswered_since = None
        elif self.unanswered_since is None:
            self.unanswered_since = monotonic()
        if self.unanswered_since is None or monotonic() - self.unanswered_since < self.answer_limit:
            return False
        self.is_silent = True
        self.unanswered_since = None
        self.waiting = set()
        self.lost |= self.cut_connections()
        return True

    def accept_row(self, row: tuple[str | None, ...]) -> None:
        self.unanswered_since = None
        self.lost = set()
        self.is_pooled = self.link.is_pooled(row[0])
        if self.is_new:
            self.is_silent = False
        if self.max_lag is None:
            self.failures = 0
        else:
            super().accept_row(row)

    def accept_failure(self, reason: str) -> None:
        if self.link.connection is not None:  # PostgreSQL answered, and refuses to end the backends
            self.lost = set()
        self.failures += 1
        if self.failures == GONE_AFTER and self.max_lag is not None:
            LOG.error("The primary is unavailable (%s). Reads continue on the replicas.", reason)

    # --- The state, for replicas

    @property
    def is_gone(self) -> bool:
        return self.failures >= GONE_AFTER

    def accept_state(self, state: State) -> None:
        if state.is_in_recovery:
            self.link.close()  # another host may be the primary
            self.accept_failure("it is in recovery")
            return
        with self.lock:
            before, self.latest = self.latest, state
            if before is not None and (before.timeline, before.cluster) != (state.timeline, state.cluster):
                self.states.clear()  # another server has become the primary
            self.states.append(state)
        self.note_return()

    def note_return(self) -> None:
        if self.is_gone and self.max_lag is not None:
            LOG.warning("The primary is available again.")
        self.failures = 0

    def measure_lag(self, state: State) -> float | None:
        """Return the seconds since the primary was at the position of a replica. None: longer than is known.

        A replica that has reached the newest known position has no lag: the primary may be idle. If that position is
        old although the primary answers, this process has not looked for long.
        """
        with self.lock:
            reached = [known.time for known in self.states if known.lsn <= state.lsn]
            has_reached_all = len(reached) == len(self.states)
        if not reached:
            return None
        lag = max(0.0, state.time - reached[-1])
        return 0.0 if has_reached_all and (self.failures or lag <= (self.max_lag or 0)) else lag
