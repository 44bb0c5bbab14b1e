"""The watched PostgreSQL servers of this process: the primary, and the replicas of DATABASE_REPLICA_URLS."""

import os
from threading import Lock
from time import monotonic

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from contentapi.conf.timeouts import REPLICA_CHECK_LIMIT
from contentapi.db.watch.link import DatabaseUnavailable, DeadlineConnection, QueryFailed
from contentapi.db.watch.primary import PrimaryWatch
from contentapi.db.watch.replica import NO_REPLICA, ReplicaWatch
from contentapi.db.watch.watch import Watch


class Servers:
    """The watches of one process. The thread of each is started when it is first needed."""

    def __init__(self, replicas: list[str], max_lag: float) -> None:
        self.primary = PrimaryWatch(max_lag if replicas else None)
        self.replicas = [ReplicaWatch(alias, self.primary, max_lag) for alias in replicas]
        self.by_alias: dict[str, Watch] = {each.alias: each for each in (self.primary, *self.replicas)}
        self.is_started = False

    def start(self) -> None:
        for watch in self.by_alias.values():
            watch.start()
        self.is_started = True


class Holder:
    """Creates the watches at their first use. A forked process inherits neither them nor their threads."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.servers: Servers | None = None
        self.lock = Lock()

    def get(self) -> Servers:
        if self.servers is None:
            with self.lock:
                if self.servers is None:
                    self.servers = Servers(list_replicas(), settings.ENVIRONMENT.contentapi_replica_max_lag / 1000)
        return self.servers


HOLDER = Holder()
get_servers = HOLDER.get
os.register_at_fork(after_in_child=HOLDER.forget)


def list_replicas() -> list[str]:
    return [alias for alias in connections.settings if alias != DEFAULT_DB_ALIAS]


def find_replica_faults() -> dict[str, str]:
    """Return why each replica is not in use, as this process sees it. The reason is empty for one that is in use.

    A process that has served no request looks once. It knows neither the lag nor whether a replica follows the primary.
    """
    servers = get_servers()
    if not servers.is_started:
        return {alias: look_once(alias) for alias in list_replicas()}
    return {each.alias: each.reason for each in servers.replicas}


def look_once(alias: str) -> str:
    connection = DeadlineConnection(alias)
    try:
        ((is_in_recovery,),) = connection.query("SELECT pg_is_in_recovery()", monotonic() + REPLICA_CHECK_LIMIT)
    except (DatabaseUnavailable, QueryFailed) as error:
        return f"unreachable ({str(error).rstrip('.')})"
    finally:
        connection.close()
    return "" if is_in_recovery == "t" else NO_REPLICA
