"""The PostgreSQL servers of this process: a thread looks at each, and decides which replicas serve reads.

The lag of a replica is measured without clocks of other machines: it is the time since the primary was at the position
that the replica has replayed. So an idle primary has no lag, and a replica that hangs has more each second. While the
primary is gone, no lag can be measured; a replica that was in use then remains in use.
"""

import logging
import os
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from contentapi.conf.timeouts import OLDEST_STATE, REPLICA_CHECK_LIMIT, WATCH_INTERVAL
from contentapi.db.watch.link import Connect
from contentapi.db.watch.primary import Primary, Server, State

LOG = logging.getLogger("contentapi.replicas")
RETURN_SHARE = 0.5  # of the accepted lag: a replica returns when it lags less, so that it does not come and go


class Replica(Server):
    """A replica. `reason` says why reads do not use it, and is empty if they do."""

    def __init__(self, alias: str, primary: Primary, max_lag: float) -> None:
        super().__init__(alias)
        self.primary = primary
        self.max_lag = max_lag
        self.reason = "not reached yet"
        self.state: State | None = None
        self.followed: tuple[int, int] | None = None  # the timeline and the cluster of the primary that it follows
        self.required_lsn = 0  # the position after which it is known to follow this primary

    @property
    def is_usable(self) -> bool:
        """Whether reads may use it. Its state is no older than `OLDEST_STATE`, also in a process that was suspended."""
        if self.reason or self.state is None:
            return False
        return monotonic() - self.state.time <= OLDEST_STATE or self.primary.is_gone

    def accept_failure(self, reason: str) -> None:
        self.state = None
        self.set_reason(f"unreachable ({reason})")
        self.cut_connections()  # requests that wait for its response repeat their reads

    def accept_state(self, state: State) -> None:
        self.require_progress(state)
        self.state = state
        self.set_reason(self.find_fault(state))

    def require_progress(self, state: State) -> None:
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

    def find_fault(self, state: State) -> str:
        """Return why the replica must not be used, or an empty string."""
        latest, was_in_use = self.primary.latest, not self.reason
        if not state.is_in_recovery:
            return "it is not a replica: it was promoted, or the address is wrong"
        if latest is None:  # this process has never reached the primary
            return "" if self.primary.is_gone else "the primary's position is not known yet"
        if state.cluster != latest.cluster:
            return "it is a replica of another database"
        if state.lsn < self.required_lsn:
            return "it does not follow the primary"
        if self.primary.is_gone:
            return "" if was_in_use or state.lsn >= latest.lsn else "it lags, and the primary is gone"
        lag = self.primary.measure_lag(state)
        accepted = self.max_lag if was_in_use else self.max_lag * RETURN_SHARE
        return f"it lags more than {accepted:g} s" if lag is None or lag > accepted else ""

    def set_reason(self, reason: str) -> None:
        """Use the replica, or leave it out for a reason, until its next state. Logs each change once."""
        if reason and not self.reason:
            LOG.warning("%s is left out: %s.", self.alias, reason)
        elif self.reason and not reason:
            LOG.info("%s is in use.", self.alias)
        self.reason = reason


class Servers:
    """The servers of this process, and the thread that looks at them. A forked process begins with others."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        replicas = [alias for alias in connections.settings if alias != DEFAULT_DB_ALIAS]
        max_lag = settings.ENVIRONMENT.contentapi_replica_max_lag / 1000
        self.primary = Primary(max_lag if replicas else None)
        self.replicas = [Replica(alias, self.primary, max_lag) for alias in replicas]
        self.by_alias: dict[str, Server] = {each.alias: each for each in (self.primary, *self.replicas)}
        self.lock = Lock()
        self.thread: Thread | None = None
        self.started_at = 0.0
        self.stopping = Event()  # of tests: the thread of a server process ends with it

    def connect(self, alias: str, parameters: dict[str, Any], connect: Connect) -> Any:
        """Return a connection to a server, and watch the servers from the first attempt on."""
        try:
            return self.by_alias[alias].connect(parameters, connect)
        finally:
            self.start()

    def start(self) -> None:
        with self.lock:
            if self.thread is None:
                self.started_at = monotonic()
                self.thread = Thread(target=self.run, name="watch", daemon=True)
                self.thread.start()

    def run(self) -> None:
        while not self.stopping.wait(WATCH_INTERVAL):
            for server in self.by_alias.values():
                try:
                    server.update()
                except Exception:
                    LOG.exception("The state of %s is unknown.", server.alias)

    def find_faults(self) -> dict[str, str]:
        """Return why each replica is not in use, or an empty text. After the start, wait until all are in use."""
        self.start()
        while any(each.reason for each in self.replicas) and monotonic() < self.started_at + REPLICA_CHECK_LIMIT:
            self.stopping.wait(WATCH_INTERVAL)
        return {each.alias: each.reason for each in self.replicas}


SERVERS = Servers()
os.register_at_fork(after_in_child=SERVERS.forget)
