"""Whether this server is ready: all checks, run in threads of their own, with a time limit and a short cache.

A request for the result never runs a check itself and uses no connection slot. A check that hangs makes one request
wait, until `READINESS_LIMIT`; later requests get its failure at once. It is not started again until it has ended.
"""

import logging
from collections.abc import Callable, Sequence
from functools import cache, partial
from threading import Event, Lock, Thread
from time import monotonic

from django.conf import settings

from contentapi.conf import conf
from contentapi.conf.timeouts import (
    READINESS_DATABASE_LIMIT,
    READINESS_LIMIT,
    READINESS_MAX_AGE,
    STORAGE_CHECK_INTERVAL,
)
from contentapi.db.watch.link import DeadlineConnection
from contentapi.health.checks import (
    NOT_STORED,
    check_database,
    check_keys,
    check_media,
    check_redis,
    check_replicas,
    has_replicas,
)
from contentapi.health.results import CheckResult, Results, failed

LOG = logging.getLogger("contentapi.health")
LATE = failed("The check has not ended in time.")


class BackgroundCheck:
    """A check that runs in a thread. `names` are those of its results, and `late` is the result if it has not ended.

    A result is used again for `max_age` seconds, at least for `READINESS_MAX_AGE`.
    """

    def __init__(
        self, names: Sequence[str], run: Callable[[], Results], *, max_age: float = 0, late: CheckResult = LATE
    ) -> None:
        self.names = names
        self.run = run
        self.max_age = max_age
        self.late = late
        self.lock = Lock()
        self.ended = Event()
        self.ended.set()
        self.started_at = float("-inf")
        self.ended_at = float("-inf")
        self.results: Results = {}

    def refresh(self) -> None:
        """Start the check unless it is running, or its result can be used again."""
        with self.lock:
            max_age = max(self.max_age, READINESS_MAX_AGE)
            if not self.ended.is_set() or monotonic() - self.ended_at < max_age:
                return
            self.ended.clear()
            self.started_at = monotonic()
        Thread(target=self.execute, name=f"check of {self.names[0]}", daemon=True).start()

    def execute(self) -> None:
        results: Results = {}
        try:
            results = self.run()
        except Exception:
            LOG.exception("The check of %s failed.", self.names[0])
            results = dict.fromkeys(self.names, failed("The check itself failed. See the log."))
        finally:
            self.results, self.ended_at = results, monotonic()
            self.ended.set()

    def get_results(self) -> Results:
        """Return the results, or a failure if the check has not ended in time."""
        if not self.ended.wait(max(0, self.started_at + READINESS_LIMIT - monotonic())):
            return dict.fromkeys(self.names, self.late)
        return self.results


class Readiness:
    """The checks of this process. `read` returns the results of all."""

    def __init__(self, checks: Sequence[BackgroundCheck]) -> None:
        self.checks = checks
        self.lock = Lock()
        self.known: dict[str, CheckResult] = {}  # logged last

    def read(self) -> Results:
        for check in self.checks:
            check.refresh()
        results: Results = {}
        for check in self.checks:
            results |= check.get_results()
        self.log_changes(results)
        return results

    def read_check(self, name: str) -> CheckResult:
        """Return the result of one check, without the other ones."""
        (check,) = (check for check in self.checks if name in check.names)
        check.refresh()
        return check.get_results()[name]

    def log_changes(self, results: Results) -> None:
        """Log each check that has begun to fail, and each that is no longer failing, once."""
        with self.lock:
            before, self.known = self.known, results
        for name, result in results.items():
            was_problem = name in before and before[name].is_problem
            if result.status == "failed" and not was_problem:
                LOG.warning("Not ready: %s. %s", name, result.reason)
            elif was_problem and not result.is_problem:
                LOG.info("Ready again: %s.", name)


@cache
def get_readiness() -> Readiness:
    """Return the checks of this process. They have a database connection: do not call this before a fork."""
    database = partial(check_database_of_server, DeadlineConnection())
    single = {"keys": check_keys}
    if conf.environment.redis_url:
        single["redis"] = check_redis
    if has_replicas():
        single["replicas"] = check_replicas
    return Readiness(
        [
            BackgroundCheck(("database", "migrations", "worker"), database),
            *(BackgroundCheck((name,), partial(run_single_check, name, check)) for name, check in single.items()),
            BackgroundCheck(
                ("media",),
                partial(run_single_check, "media", check_media),
                max_age=STORAGE_CHECK_INTERVAL,
                late=NOT_STORED,
            ),
        ]
    )


def lacks_migrations() -> bool:
    """Return whether the database lacks migrations, for errors about missing tables, columns and functions.

    Many requests fail at the same time, and one of them looks.
    """
    return get_readiness().read_check("migrations").status == "failed"


def check_database_of_server(connection: DeadlineConnection) -> Results:
    """Check the database. Only a server keeps the connection for the next check."""
    try:
        return check_database(connection, READINESS_DATABASE_LIMIT)
    finally:
        if not settings.SERVING:
            connection.close()


def run_single_check(name: str, check: Callable[[], CheckResult]) -> Results:
    return {name: check()}
