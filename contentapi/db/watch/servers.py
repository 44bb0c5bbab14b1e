"""The watched PostgreSQL servers of this process: the primary, and the replicas of DATABASE_REPLICA_URLS."""

import os
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


def list_replicas() -> list[str]:
    return [alias for alias in connections.settings if alias != DEFAULT_DB_ALIAS]


CURRENT: list[Servers] = []  # one


def create_servers() -> None:
    """Create the watches of this process. A forked process inherits neither them nor their threads."""
    CURRENT[:] = [Servers(list_replicas(), settings.ENVIRONMENT.contentapi_replica_max_lag / 1000)]


create_servers()
os.register_at_fork(after_in_child=create_servers)


def get_servers() -> Servers:
    return CURRENT[0]


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
