"""Send reads to streaming replicas (DATABASE_REPLICA_URLS), and writes to the primary.

`read` calls a function that only reads: its statements go to a replica if one is usable, and are repeated on the
primary if the replica fails. Two threads for each server of the database watch the servers: a replica that is
unreachable, that hangs, that lags or that was promoted is left out, and used again when it has recovered.

An actor reads their own writes. After a write, `record_write` stores the position of the primary for the actor
(`contentapi.db.postgresql.write_positions`). A read of the actor uses a replica only if the replica has replayed this
position. Without Redis, all reads of authenticated actors go to the primary, while there is one.

Without DATABASE_REPLICA_URLS, all of this is off. See docs/decisions/0042-replicas.md.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Lock, local
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, ProgrammingError, connections

from contentapi.db.postgresql.replica_watch import PrimaryWatch, ReplicaWatch, build_parameters
from contentapi.db.postgresql.replication import (
    ORIGIN,
    UNREACHABLE_POSITION,
    Position,
    StateReader,
    read_position,
)
from contentapi.db.postgresql.slots import THREAD
from contentapi.db.postgresql.thread_connections import get_connection
from contentapi.db.postgresql.write_positions import WritePositions

LOG = logging.getLogger("contentapi.replicas")
T = TypeVar("T")

QUERY_CANCELED = "57014"  # by the time limit: the primary would need as long
# The replica has not replayed a migration yet.
UNKNOWN_OBJECTS = ("42P01", "42703", "42883", "3F000")


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """The state of a replica as a server process sees it. `lag` is in seconds; None if it is unknown."""

    alias: str
    in_use: bool
    reason: str
    lag: float | None


class Route(local):
    """The replica of the read that this thread executes, and the position that the read requires."""

    alias: str | None = None
    required: Position = ORIGIN


ROUTE = Route()


class Replicas:
    """The replicas of one server process, and the threads that watch them."""

    def __init__(self, aliases: list[str], redis_url: str, max_lag: float) -> None:
        self.primary = PrimaryWatch(build_parameters(DEFAULT_DB_ALIAS), max_lag)
        self.replicas = [ReplicaWatch(alias, build_parameters(alias), self.primary, max_lag) for alias in aliases]
        self.positions = WritePositions(redis_url) if redis_url else None
        if self.positions is not None:
            self.primary.listeners.append(self.positions.accept_state)
        self.turns = count()

    def start(self) -> None:
        for watch in (self.primary, *self.replicas):
            watch.start()

    def choose(self, user_id: int | None) -> tuple[str, Position] | None:
        """Return the replica for a read, and the position that it has to have. None: read from the primary.

        Reads of an actor use one replica while it is usable, so that time does not go backwards between them.
        """
        if not any(replica.is_usable for replica in self.replicas):
            return None
        required: Position | None = ORIGIN
        if user_id is not None:
            required = self.positions.load(user_id) if self.positions else None
            if required is None and not self.primary.is_gone:
                return None
        alias = self.choose_at(required or ORIGIN, next(self.turns) if user_id is None else user_id)
        return (alias, required or ORIGIN) if alias else None

    def choose_at(self, required: Position, number: int) -> str | None:
        """Return one of the usable replicas that have replayed a position, by a number."""
        usable = [replica.alias for replica in self.replicas if replica.is_usable and replica.position >= required]
        return usable[number % len(usable)] if usable else None

    def leave_out(self, alias: str, reason: str) -> None:
        for replica in self.replicas:
            if replica.alias == alias:
                replica.leave_out(reason)

    def record_write(self, user_id: int) -> None:
        """Store the position of the primary for a user, before the response to their write is sent."""
        if self.positions is None:
            return
        try:
            connection = get_connection(DEFAULT_DB_ALIAS)
            connection.ensure_connection()
            position = read_position(connection.connection)
        except (OperationalError, InterfaceError, psycopg.Error) as error:
            LOG.warning("The position of a write is unknown: %s.", type(error).__name__)
            position = UNREACHABLE_POSITION
        self.positions.store(user_id, position)


class ReplicaRouter:
    """Django's database router: reads of this thread go to the replica of its route."""

    def db_for_read(self, *_: Any, **__: Any) -> str | None:
        return ROUTE.alias

    def db_for_write(self, *_: Any, **__: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *_: Any, **__: Any) -> bool:
        return True  # all aliases are copies of one database

    def allow_migrate(self, db: str, *_: Any, **__: Any) -> bool | None:
        return None if db == DEFAULT_DB_ALIAS else False


class Holder:
    """The replicas of this process. They are created, and watched, when a server handles its first request."""

    replicas: Replicas | None = None
    is_created = False
    lock = Lock()

    def get(self) -> Replicas | None:
        if not self.is_created and THREAD.lease is not None:  # a request of a client, in a worker process
            with self.lock:
                if not self.is_created:
                    self.create()
        return self.replicas

    def create(self) -> None:
        environment = settings.ENVIRONMENT
        aliases = [alias for alias in connections.settings if alias != DEFAULT_DB_ALIAS]
        if settings.SERVING and environment.database_replica_urls:
            self.replicas = Replicas(aliases, environment.redis_url, environment.contentapi_replica_max_lag / 1000)
            self.replicas.start()
        self.is_created = True

    def forget(self) -> None:
        """In a forked process: the threads do not exist there."""
        self.replicas, self.is_created, self.lock = None, False, Lock()


HOLDER = Holder()
os.register_at_fork(after_in_child=HOLDER.forget)


def read(user_id: int | None, function: Callable[[], T]) -> T:
    """Call a function that only reads, for a user or for an anonymous caller (None).

    Its statements go to a replica if one is usable. If the replica fails, the function is called again. Call this
    outside of a transaction. Raises what `function` raises.
    """
    replicas = HOLDER.replicas if HOLDER.is_created else HOLDER.get()
    chosen = replicas.choose(user_id) if replicas is not None else None
    if chosen is None:
        return function()
    ROUTE.alias, ROUTE.required = chosen
    try:
        while True:
            try:
                return function()
            except (OperationalError, InterfaceError, ProgrammingError) as error:
                if not leave_replica(error):
                    raise
    finally:
        ROUTE.alias = None


def leave_replica(error: Exception) -> bool:
    """After an error of a statement on the replica of this thread, route the thread to another server.

    Returns whether to repeat the statement. It is not repeated if the error is not one of the replica.
    """
    alias, replicas = ROUTE.alias, HOLDER.replicas
    if alias is None or replicas is None:
        return False
    code = getattr(error.__cause__, "sqlstate", None)
    if code == QUERY_CANCELED or (isinstance(error, ProgrammingError) and code not in UNKNOWN_OBJECTS):
        return False
    if is_connection_lost(code):
        replicas.leave_out(alias, "a read failed")
    ROUTE.alias = replicas.choose_at(ROUTE.required, 0) if replicas.primary.is_gone else None
    return ROUTE.alias != alias


def is_connection_lost(code: str | None) -> bool:
    """Return whether an SQLSTATE means that the connection or the server is unusable. libpq's own errors have none."""
    return code is None or code[:2] in ("08", "53", "57")


def read_credential(function: Callable[[], T]) -> tuple[T, bool]:
    """Call a function that reads from the primary, or from a replica if the primary is gone.

    Returns its result, and whether it is the primary's. The result of a replica lacks the changes of the last moments
    before the primary was gone, at most CONTENTAPI_REPLICA_MAX_LAG. Raises what `function` raises.
    """
    replicas = HOLDER.replicas if HOLDER.is_created else HOLDER.get()
    if replicas is None:
        return function(), True
    if not replicas.primary.is_gone:
        try:
            return function(), True
        except (OperationalError, InterfaceError) as error:
            if not is_connection_lost(getattr(error.__cause__, "sqlstate", None)):
                raise
            alias = replicas.choose_at(ORIGIN, 0)
            if alias is None:
                raise
    else:
        alias = replicas.choose_at(ORIGIN, 0)
    ROUTE.alias, ROUTE.required = alias, ORIGIN
    try:
        return function(), alias is None
    finally:
        ROUTE.alias = None


def record_write(user_id: int | None) -> None:
    """After a write of a user, let their next reads see it. Call this before the response is sent."""
    replicas = HOLDER.replicas if HOLDER.is_created else HOLDER.get()
    if replicas is not None and user_id is not None:
        replicas.record_write(user_id)


def check_replicas() -> list[ReplicaStatus]:
    """Return the state of each replica, as this process sees it; in a process that serves no requests, as it is now."""
    replicas = HOLDER.replicas
    if replicas is None:
        return [check_once(alias) for alias in connections.settings if alias != DEFAULT_DB_ALIAS]
    return [ReplicaStatus(each.alias, each.is_usable, each.reason, each.lag) for each in replicas.replicas]


def check_once(alias: str) -> ReplicaStatus:
    """Observe a replica once. Neither its lag nor whether it follows the primary is known from this."""
    reader = StateReader(build_parameters(alias))
    try:
        state = reader.read()
    except psycopg.Error as error:
        return ReplicaStatus(alias, in_use=False, reason=f"unreachable ({type(error).__name__})", lag=None)
    finally:
        reader.close()
    fault = "" if state.is_in_recovery else "it is not a replica: it was promoted, or the address is wrong"
    return ReplicaStatus(alias, in_use=not fault, reason=fault, lag=None)
