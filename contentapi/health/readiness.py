"""Whether this server is ready: all checks, run in threads of their own, with a time limit and a short cache.

A request for the result never runs a check itself and uses no connection slot. A check that hangs makes one request
wait, until `READINESS_LIMIT`; later requests get its failure at once. It is not started again until it has ended.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache, partial
from threading import Lock
from time import monotonic

from django.conf import settings

from contentapi.conf import conf, timeouts
from contentapi.db.watch.link import DeadlineConnection, call_in_thread
from contentapi.db.watch.servers import SERVERS
from contentapi.health.checks import NOT_STORED, check_database, check_keys, check_media, check_redis, check_replicas
from contentapi.health.results import LOG, CheckResult, Results, failed, run_check

LATE = failed("The check has not ended in time.")


class BackgroundCheck:
    """A check that runs in a thread."""

    def __init__(
        self,
        names: Sequence[str],
        run: Callable[[], Results],
        *,
        max_age: float = timeouts.READINESS_MAX_AGE,
        late: CheckResult = LATE,
    ) -> None:
        self.names = names  # of its results
        self.run = run
        self.max_age = max_age  # seconds after its beginning in which a result is used again
        self.late = late  # the result if it has not ended
        self.lock = Lock()
        self.results: Future[Results] | None = None
        self.started_at = 0.0

    def begin(self) -> Callable[[], Results]:
        """Start the check unless it is running, or its result can be used again. Return a function that waits for it.

        The result is a failure if the check has not ended in time.
        """
        with self.lock:
            if self.results is None or (self.results.done() and monotonic() >= self.started_at + self.max_age):
                self.started_at = monotonic()
                self.results = call_in_thread(run_check, self.names, self.run)
            return partial(self.wait, self.results, self.started_at + timeouts.READINESS_LIMIT)

    def wait(self, results: Future[Results], deadline: float) -> Results:
        try:
            return results.result(max(0, deadline - monotonic()))
        except TimeoutError:
            return dict.fromkeys(self.names, self.late)


class Readiness:
    """The checks of this process. `read` returns the results of all."""

    def __init__(self, checks: Sequence[BackgroundCheck]) -> None:
        self.checks = checks
        self.lock = Lock()
        self.known: dict[str, CheckResult] = {}  # logged last

    def read(self) -> Results:
        results: Results = {}
        for wait in [check.begin() for check in self.checks]:
            results |= wait()
        self.log_changes(results)
        return results

    def read_check(self, name: str) -> CheckResult:
        """Return the result of one check, without the other ones."""
        (check,) = (check for check in self.checks if name in check.names)
        return check.begin()()[name]

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
    checks = [BackgroundCheck(("database", "migrations", "worker"), database)]
    checks.append(BackgroundCheck(("keys",), lambda: {"keys": check_keys()}))
    if conf.environment.redis_url:
        checks.append(BackgroundCheck(("redis",), lambda: {"redis": check_redis()}))
    if SERVERS.replicas:
        checks.append(BackgroundCheck(("replicas",), lambda: {"replicas": check_replicas()}))
    media = BackgroundCheck(
        ("media",), lambda: {"media": check_media()}, max_age=timeouts.STORAGE_CHECK_INTERVAL, late=NOT_STORED
    )
    return Readiness([*checks, media])


def lacks_migrations() -> bool:
    """Return whether the database lacks migrations, for errors about missing tables, columns and functions.

    Many requests fail at the same time, and one of them looks.
    """
    return get_readiness().read_check("migrations").status == "failed"


def check_database_of_server(connection: DeadlineConnection) -> Results:
    """Check the database. Only a server keeps the connection for the next check."""
    try:
        return check_database(connection, timeouts.READINESS_DATABASE_LIMIT)
    finally:
        if not settings.SERVING:
            connection.close()
