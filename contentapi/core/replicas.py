"""Send reads to streaming replicas (DATABASE_REPLICA_URLS), and writes to the primary.

`read` calls a function that only reads: its statements go to a replica if one is usable, and are repeated on the
primary if the replica fails. `contentapi.db.watch` decides which replicas are usable.

An actor reads their own writes: after a write, `record_write` sends the reads of this user to the primary until each
replica that is in use has replayed the write (`Pins`). Without Redis, all reads of authenticated actors go to the
primary, while there is one. See docs/decisions/0042-replicas.md.
"""

import logging
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from threading import local
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, ProgrammingError

from contentapi.conf.timeouts import OLDEST_STATE
from contentapi.core.redis import GuardedRedis, RedisUnavailable
from contentapi.db.engine.slots import get_connection
from contentapi.db.outages import is_outage
from contentapi.db.watch.servers import SERVERS
from contentapi.monitoring.records import current_record

T = TypeVar("T")
LOG = logging.getLogger("contentapi.replicas")

QUERY_CANCELED = "57014"  # by the time limit: the primary would need as long
# The replica has not replayed a migration yet.
UNKNOWN_OBJECTS = ("42P01", "42703", "42883", "3F000")
TURNS = count()


class Route(local):
    """The replica of the read that this thread executes."""

    alias: str | None = None


ROUTE = Route()


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


def build_pin_key(user_id: int | str) -> str:
    return f"contentapi:written:{user_id}"


class Pins:
    """The users who have written within the last `life` seconds. Each has a key in Redis, which every process sees.

    The script that charges a request to its user looks for the key (`contentapi.rate_limits`), so that a read needs no
    round trip of its own. While Redis fails, and for the life of a key afterwards, keys may be missing.
    """

    def __init__(self, url: str, life: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.redis = GuardedRedis(url, LOG, "Authenticated reads go to the primary.", clock)
        self.life = life
        self.clock = clock
        self.unknown_until = float("-inf")

    def add(self, user_id: int) -> None:
        """Note a write of a user, before its response is sent."""
        try:
            key, life = build_pin_key(user_id), round(1000 * self.life)
            self.redis.execute("set", lambda: self.redis.client.set(key, 1, px=life))
        except RedisUnavailable:
            self.unknown_until = self.clock() + self.life

    def knows_write(self) -> bool | None:
        """Return whether the user of the current request has written. None: it is not known."""
        found = current_record.get().has_written
        if found is None:  # Redis did not answer, and may have lost keys
            self.unknown_until = self.clock() + self.life
        return found if self.clock() >= self.unknown_until else None


@cache
def get_pins() -> Pins | None:
    environment = settings.ENVIRONMENT
    life = environment.contentapi_replica_max_lag / 1000 + OLDEST_STATE
    return Pins(environment.redis_url, life) if environment.redis_url else None


def has_replicas() -> bool:
    """Return whether this process is a server with replicas. Its first connection to the primary watches them."""
    return bool(SERVERS.replicas) and settings.SERVING


def read(user_id: int | None, function: Callable[[], T]) -> T:
    """Call a function that only reads, for a user or for an anonymous caller (None).

    Its statements go to a replica if one is usable. If the replica fails, the function is called again. Call this
    outside of a transaction. Raises what `function` raises.
    """
    alias = choose_for_user(user_id) if has_replicas() else None
    if alias is None:
        return function()
    set_route(alias)
    try:
        while True:
            try:
                return function()
            except (OperationalError, InterfaceError, ProgrammingError) as error:
                if not leave_replica(error):
                    raise
    finally:
        ROUTE.alias = None


def set_route(alias: str | None) -> None:
    """Send the reads of this thread to a replica, or to the primary (None), whose errors then exclude no replica.

    The connection to a replica is checked here. At the start of a request, only that to the primary is: each check
    costs a hundredth of a small read.
    """
    if alias is not None:
        get_connection(alias).close_if_unusable_or_obsolete()
    ROUTE.alias = alias


def choose_for_user(user_id: int | None) -> str | None:
    """Return the alias of the replica for a read. None: read from the primary.

    Reads of an actor use one replica while it is usable, so that time does not go backwards between them.
    """
    alias = choose(next(TURNS) if user_id is None else user_id)
    if alias is None or user_id is None:
        return alias
    pins = get_pins()
    has_written = pins.knows_write() if pins is not None else None
    return None if has_written or (has_written is None and not SERVERS.primary.is_gone) else alias


def choose(number: int = 0) -> str | None:
    """Return the alias of one of the usable replicas, by a number."""
    replica = SERVERS.replicas[number % len(SERVERS.replicas)]
    if replica.is_usable:  # nearly always: then the state of the others is not read
        return replica.alias
    usable = [replica.alias for replica in SERVERS.replicas if replica.is_usable]
    return usable[number % len(usable)] if usable else None


def leave_replica(error: Exception) -> bool:
    """Route this thread to another server after an error of its replica. Return whether to repeat the statement."""
    alias = ROUTE.alias
    if alias is None:
        return False
    code = getattr(error.__cause__, "sqlstate", None)
    if code == QUERY_CANCELED or (isinstance(error, ProgrammingError) and code not in UNKNOWN_OBJECTS):
        return False
    if is_outage(error):
        for replica in SERVERS.replicas:
            if replica.alias == alias:
                replica.set_reason("a read failed")
    set_route(choose() if SERVERS.primary.is_gone else None)
    return ROUTE.alias != alias


def read_credential(function: Callable[[], T]) -> tuple[T, bool]:
    """Call a function that reads from the primary, or from a replica if the primary is gone.

    Returns its result, and whether it is the primary's. The result of a replica lacks the changes of the last moments
    before the primary was gone, at most CONTENTAPI_REPLICA_MAX_LAG. Raises what `function` raises.
    """
    if not has_replicas():
        return function(), True
    if not SERVERS.primary.is_gone:
        try:
            return function(), True
        except (OperationalError, InterfaceError) as error:
            is_slow = getattr(error.__cause__, "sqlstate", None) == QUERY_CANCELED
            if not (is_slow or is_outage(error)) or choose() is None:
                raise
    set_route(alias := choose())
    try:
        return function(), alias is None
    finally:
        ROUTE.alias = None


def record_write(user_id: int | None) -> None:
    """After a write of a user, let their next reads see it. Call this before the response is sent."""
    if user_id is not None and has_replicas() and (pins := get_pins()) is not None:
        pins.add(user_id)
