"""The time-outs of a server, which depend on each other.

Each is below the next: PostgreSQL ends a statement before a request gives up, a request gives up before the server ends
its worker. `contentapi.conf.checks` reports settings that contradict this.
"""

from typing import NamedTuple

from contentapi.conf.environment import Environment


class Timeouts(NamedTuple):
    """The time-outs, in seconds.

    `slot`: a request waits for a connection slot. `worker`: a worker gives no sign of life. `stall`: all slots are in
    use and none is released. `shutdown`: requests end after SIGTERM.
    """

    statement: float
    lock: float
    idle_in_transaction: float
    slot: float
    worker: float
    stall: float
    shutdown: float


def derive_timeouts(environment: Environment) -> Timeouts:
    """Return the time-outs that follow from the settings."""
    statement = environment.contentapi_statement_timeout / 1000
    worker = environment.contentapi_worker_timeout / 1000
    # An operation executes its root fields one after the other, each with one statement; a mutation needs some more.
    statements = max(environment.contentapi_max_root_fields, 2 * environment.contentapi_max_mutations)
    return Timeouts(
        statement=statement,
        lock=min(2.0, statement),
        idle_in_transaction=worker / 2,
        slot=2 * statement,
        worker=worker,
        stall=worker + statements * statement,
        shutdown=environment.contentapi_shutdown_timeout / 1000,
    )
