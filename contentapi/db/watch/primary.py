"""Watch the primary: notice within two seconds that it does not answer, and fail the requests that wait for it.

If a connection has waited since the last look, and neither a question nor any statement ends within `ANSWER_LIMIT`,
the database is silent: all connections are cut, and the watch connects before requests do. A server that refuses
connections is not silent. Without replicas, an idle process asks nothing. See docs/decisions/0043-silent-database.md.
"""

import logging
from collections import deque
from collections.abc import Callable, Collection
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.pq import TransactionStatus

from contentapi.conf.timeouts import ANSWER_LIMIT, CONNECT_LIMIT, QUESTION_INTERVAL, RECONNECT_LIMIT
from contentapi.db.watch import link
from contentapi.db.watch.link import Attempt, Connect, Connection, DatabaseSilent, QueryFailed

LOG = logging.getLogger("contentapi.replicas")

PROBE = "SELECT pg_backend_pid()"  # through a pooler, this is not the process id of the connection
# The insert position also covers a commit that does not wait for the disk (synchronous_commit = off).
READ_STATE = """
SELECT pg_backend_pid(), pg_is_in_recovery(),
    coalesce(
        CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0', 0
    )::int8,
    CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END,
    (SELECT system_identifier FROM pg_control_system())
"""
GONE_AFTER = 2  # failures of the primary; a single one may be a slow answer while it is busy


class State(NamedTuple):
    """The state of a server."""

    is_in_recovery: bool
    lsn: int  # the position in the log that it has replayed or, as a primary, written
    timeline: int  # 0 in recovery
    cluster: int  # the same for a primary and all of its copies
    time: float  # of the question, on the monotonic clock


class Server:
    """A server, and the connections of requests to it. Subclasses decide what follows from its states and failures."""

    accept_state: Callable[[State], None]
    accept_failure: Callable[[str], None]  # with the reason
    accept_sign_of_life: Callable[[int], object] = staticmethod(lambda _: None)  # before a state, with the backend's id
    # Checks the connections of requests, and returns whether to ask the server
    check_connections: Callable[[], bool] = staticmethod(lambda: True)

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.link = link.DeadlineConnection(alias)
        self.lock = Lock()
        self.connections: WeakSet[Connection] = WeakSet()
        self.answer: Attempt | None = None  # to the question under way
        self.asked_at = float("-inf")
        self.question = READ_STATE
        self.answer_limit = ANSWER_LIMIT  # in which the server must answer

    def connect(self, parameters: dict[str, Any], connect: Connect) -> Any:
        """Return `connect(parameters)`, a psycopg connection, which is then watched.

        Raises `DatabaseSilent` after `CONNECT_LIMIT` seconds, and the errors of `connect`.
        """
        try:
            preferred = link.prefer_reached_host(self.alias, parameters)
            connection = link.connect_by(monotonic() + CONNECT_LIMIT, connect, preferred)
        except TimeoutError:
            raise DatabaseSilent from None
        with self.lock:
            self.connections.add(connection)
        return connection

    def list_connections(self) -> list[Connection]:
        with self.lock:
            return list(self.connections)

    def cut_connections(self) -> set[tuple[int, int]]:
        """End the waits of all threads for this server. Returns backend and port of each connection by TCP."""
        return {lost for lost in map(link.cut, self.list_connections()) if lost is not None}

    def update(self) -> None:
        """Take the response to the question under way, and ask the next one."""
        if self.answer is not None and self.answer.done():
            answer, self.answer = self.answer, None
            try:
                ((pid, *state),) = answer.result()
            except QueryFailed as error:
                self.accept_failure(str(error).rstrip("."))
            else:
                self.accept_sign_of_life(pid)
                if state:
                    self.accept_state(State._make([*state, self.asked_at]))
        if self.check_connections() and self.answer is None and monotonic() >= self.asked_at + QUESTION_INTERVAL:
            self.ask()

    def ask(self) -> None:
        hosts, self.asked_at = 1 + connections.settings[self.alias]["HOST"].count(","), monotonic()
        limit = self.answer_limit if self.link.connection else max(self.answer_limit, RECONNECT_LIMIT * hosts)
        self.answer = link.call_in_thread(self.link.query, self.question, self.asked_at + limit)


class Primary(Server):
    """The primary. `max_lag` is the accepted lag of replicas in seconds, or None without replicas.

    `is_silent` is true from the moment at which the database was found not to answer until it answers again.
    """

    def __init__(self, max_lag: float | None) -> None:
        super().__init__(DEFAULT_DB_ALIAS)
        self.max_lag = max_lag
        self.answer_limit = ANSWER_LIMIT + settings.TIMEOUTS.statement
        self.is_silent = False
        self.proves_return = False  # the question under way: its connection is a new one
        self.is_pooled: bool | None = None  # unknown, and so possible, until the first response
        self.waiting: set[Connection] = set()  # at the last look
        self.unanswered_since: float | None = None
        self.lost: set[tuple[int, int]] = set()  # backend process and client port of connections that were cut
        self.ending = frozenset(self.lost)  # those that the question under way ends
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
        if self.is_pooled is False and connection.info.parameter_status("in_hot_standby") != "on":
            self.note_return()  # before a write on this connection, after which its user reads from the primary
        return connection

    def ask(self) -> None:
        if self.is_silent:
            self.link.close()  # a present connection does not show whether the server accepts new ones
        self.proves_return = self.link.connection is None
        state = PROBE if self.max_lag is None else READ_STATE
        self.ending = frozenset(self.lost)
        self.question = f"{build_end_of_backends(self.ending)}; {state}" if self.ending else state
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
        if self.unanswered_since is not None and monotonic() - self.unanswered_since >= self.answer_limit:
            self.is_silent = True
            self.unanswered_since = None
            self.waiting = set()
            self.lost |= self.cut_connections()
        is_idle = self.max_lag is None and self.unanswered_since is None and self.link.connection is not None
        return self.is_silent or bool(self.lost) or not is_idle

    def accept_sign_of_life(self, pid: int) -> None:
        self.unanswered_since = None
        self.lost -= self.ending
        self.is_pooled = self.link.is_pooled(pid)
        self.answer_limit = ANSWER_LIMIT + (settings.TIMEOUTS.statement if self.is_pooled else 0)
        if self.proves_return:
            self.is_silent = False

    def accept_failure(self, reason: str) -> None:
        if self.link.connection is not None:  # PostgreSQL answered, and refuses to end the backends
            self.lost -= self.ending
        self.failures += 1
        if self.failures == GONE_AFTER and self.max_lag is not None:
            LOG.error("The primary is unavailable (%s). Reads continue on the replicas.", reason)

    @property
    def is_gone(self) -> bool:
        return self.failures >= GONE_AFTER

    def accept_state(self, state: State) -> None:
        if state.is_in_recovery:
            self.link.close()  # another host may be the primary
            self.accept_failure("it is in recovery")
            return
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
        reached = [known.time for known in self.states if known.lsn <= state.lsn]
        if not reached:
            return None
        lag = max(0.0, state.time - reached[-1])
        has_reached_all = len(reached) == len(self.states)
        return 0.0 if has_reached_all and (self.failures or lag <= (self.max_lag or 0)) else lag


def is_waiting(connection: Connection) -> bool:
    """Return whether a connection waits for the result of a statement."""
    try:
        return not connection.closed and connection.info.transaction_status == TransactionStatus.ACTIVE
    except psycopg.Error:  # its thread closes it just now
        return False


def build_end_of_backends(lost: Collection[tuple[int, int]]) -> str:
    """Return a statement that ends the backends of connections that were cut: they may hold locks.

    PostgreSQL learns late, if packets were dropped, that a client has closed its connection. The client's port
    distinguishes a backend from one with the same process id on another server, or behind PgBouncer. A commit that
    waits for a synchronous standby is not ended: others would see it before the standby has it.
    """
    pairs = ",".join(f"({backend:d},{port:d})" for backend, port in sorted(lost))
    return (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - two integers each
        f"WHERE (pid, client_port) IN ({pairs}) AND usename = current_user "
        "AND wait_event IS DISTINCT FROM 'SyncRep'"
    )
