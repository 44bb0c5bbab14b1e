"""Watch the primary and its replicas: which of them responds, and how far each replica has replayed the primary's log.

The lag of a replica is measured without clocks of other machines: it is the time since the primary was at the position
that the replica has replayed now. So an idle primary has no lag, and a replica that hangs has more each second. While
the primary is gone, no lag can be measured; a replica that was in use then remains in use.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

from contentapi.db.postgresql.open_connections import CHECKS, interrupt_connections
from contentapi.db.postgresql.replication import ORIGIN, Position, ServerState, StateReader, read_replayed_lsn

LOG = logging.getLogger("contentapi.replicas")
INTERVAL = 0.5  # seconds between two looks at a server
GONE_AFTER = 2  # failures of the primary
PAUSE = 2.0  # seconds that a replica is left out after a read has failed on it
RETURN_SHARE = 0.5  # of the accepted lag: a replica returns when it lags less, so that it does not come and go


def build_parameters(alias: str) -> dict[str, Any]:
    """Return the parameters of `psycopg.connect` for a database of the settings."""
    wrapper: Any = connections.create_connection(alias)
    parameters: dict[str, Any] = wrapper.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


class Watch:
    """A thread that observes one server in each interval."""

    def __init__(self, alias: str, parameters: dict[str, Any]) -> None:
        self.alias = alias
        self.reader = StateReader(parameters)
        self.lock = Lock()

    def start(self) -> None:
        Thread(target=self.run, name=f"watch-{self.alias}", daemon=True).start()

    def run(self) -> None:
        while True:
            started = time.monotonic()
            try:
                self.observe()
            except Exception:
                LOG.exception("The state of %s is unknown.", self.alias)
            time.sleep(max(0.05, INTERVAL - (time.monotonic() - started)))

    def observe(self) -> None:
        """Read the state of the server, and accept it or its failure."""
        try:
            state = self.reader.read()
        except psycopg.Error as error:
            self.accept_failure(type(error).__name__)
        else:
            self.accept_state(state)

    def accept_state(self, state: ServerState) -> None:
        raise NotImplementedError

    def accept_failure(self, reason: str) -> None:
        raise NotImplementedError


class PrimaryWatch(Watch):
    """Watches the primary. `listeners` are called with each of its states."""

    def __init__(self, parameters: dict[str, Any], span: float) -> None:
        super().__init__(DEFAULT_DB_ALIAS, parameters)
        self.is_gone = False
        self.failures = 0  # without a success between them
        self.latest: ServerState | None = None
        # The newest states of one timeline, the oldest first, for somewhat longer than the accepted lag.
        self.states: deque[ServerState] = deque(maxlen=int(span / INTERVAL) + 4)
        self.listeners: list[Callable[[ServerState], None]] = []

    def accept_state(self, state: ServerState) -> None:
        if state.is_in_recovery:
            self.accept_failure("it is in recovery")
            return
        with self.lock:
            if self.latest is not None and (self.latest.timeline, self.latest.cluster) != (
                state.timeline,
                state.cluster,
            ):
                self.states.clear()  # another server has become the primary
            self.states.append(state)
            self.latest = state
        if self.is_gone:
            LOG.warning("The primary is available again.")
        self.is_gone, self.failures = False, 0
        for listener in self.listeners:
            listener(state)

    def accept_failure(self, reason: str) -> None:
        """Count a failure. A single one may be a slow response of a busy primary."""
        self.failures += 1
        if self.failures < GONE_AFTER:
            return
        if not self.is_gone:
            LOG.error("The primary is unavailable (%s). Reads continue on the replicas.", reason)
        self.is_gone = True

    def measure_lag(self, lsn: int) -> float | None:
        """Return the seconds since the primary was at a position. None: longer than is known."""
        with self.lock:
            reached = [state.time for state in self.states if state.lsn <= lsn]
            if not reached:
                return None
            return 0.0 if len(reached) == len(self.states) else max(0.0, time.monotonic() - reached[-1])


class ReplicaWatch(Watch):
    """Watches a replica, and decides whether reads may use it."""

    def __init__(self, alias: str, parameters: dict[str, Any], primary: PrimaryWatch, max_lag: float) -> None:
        super().__init__(alias, parameters)
        self.primary = primary
        self.max_lag = max_lag
        self.is_usable = False
        self.position: Position = ORIGIN
        self.reason = "not reached yet"
        self.lag: float | None = None
        self.state: ServerState | None = None
        self.paused_until = 0.0
        self.followed: tuple[int, int] | None = None  # the timeline and the cluster of the primary that it follows
        self.required_lsn = 0  # the position after which it is known to follow this primary
        CHECKS[alias] = self.check_connection

    def check_connection(self, connection: Any) -> None:
        """Check a new connection: a replica that was restarted may have replayed less than it had before.

        Raises `psycopg.OperationalError`.
        """
        lsn = read_replayed_lsn(connection)
        if lsn is None or lsn < self.position[1]:
            connection.close()
            self.leave_out("it was restarted or promoted")
            raise psycopg.OperationalError("This server is not the replica that it was.")

    def accept_failure(self, reason: str) -> None:
        self.state = None
        self.leave_out(f"unreachable ({reason})", pause=0)
        interrupt_connections(self.alias)  # requests that wait for its response repeat their reads

    def accept_state(self, state: ServerState) -> None:
        self.require_progress(state)
        self.state = state
        reason = self.find_fault(state)
        with self.lock:
            if reason is None and time.monotonic() < self.paused_until:
                return
            if reason is None:
                self.position = ((self.primary.latest or state).timeline, state.lsn)
            self.set_usable(reason)

    def require_progress(self, state: ServerState) -> None:
        """Notice a replica that does not follow the primary, and one that has not yet followed it to a new timeline.

        A replica cannot tell its timeline. One that is ahead of the primary has another one. After a promotion, the
        replica must pass a position of the new timeline.
        """
        latest, before = self.primary.latest, self.state
        if latest is None:
            return
        identity = (latest.timeline, latest.cluster)
        if self.followed is not None and self.followed != identity:
            self.required_lsn = latest.lsn
        self.followed = identity
        if before is not None and latest.time > before.time and latest.lsn < before.lsn:
            self.required_lsn = before.lsn + 1
        if before is not None and state.lsn < before.lsn:
            self.required_lsn = latest.lsn  # restored from an older backup

    def find_fault(self, state: ServerState) -> str | None:
        """Return why the replica must not be used, or None. Sets the lag."""
        latest = self.primary.latest
        self.lag = None
        if not state.is_in_recovery:
            return "it is not a replica: it was promoted, or the address is wrong"
        if latest is None:  # this process has never reached the primary
            return None if self.primary.is_gone else "the primary's position is not known yet"
        if state.cluster != latest.cluster:
            return "it is a replica of another database"
        if state.lsn < self.required_lsn:
            return "it does not follow the primary"
        if self.primary.is_gone:
            return None if self.is_usable or state.lsn >= latest.lsn else "it lags, and the primary is gone"
        self.lag = self.primary.measure_lag(state.lsn)
        accepted = self.max_lag if self.is_usable else self.max_lag * RETURN_SHARE
        if self.lag is None or self.lag > accepted:
            return f"it lags more than {accepted:g} s"
        return None

    def leave_out(self, reason: str, *, pause: float = PAUSE) -> None:
        with self.lock:
            self.paused_until = time.monotonic() + pause
            self.set_usable(reason)

    def set_usable(self, fault: str | None) -> None:
        """Use the replica, or leave it out because of a fault. Logs each change once."""
        if self.is_usable and fault is not None:
            LOG.warning("%s is left out: %s.", self.alias, fault)
        elif not self.is_usable and fault is None:
            LOG.info("%s is in use.", self.alias)
        self.is_usable, self.reason = fault is None, fault or ""
