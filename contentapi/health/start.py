"""What the start of a server says about the database, once, on standard error.

The server starts, unless the database and CONTENTAPI_DISTRIBUTED disagree.
"""

import logging
from contextlib import closing

from contentapi.conf.timeouts import START_CHECK_LIMIT
from contentapi.db.distribution import REMEDIES
from contentapi.db.watch.link import DeadlineConnection
from contentapi.health.checks import check_database
from contentapi.health.results import Results

LOG = logging.getLogger("contentapi.health")


def report_database_state() -> None:
    """Log a line if the database is not available or has unapplied migrations. Its connection is closed: call this
    before a server forks its workers. Raises `SystemExit` as `require_agreement` does.
    """
    results = require_agreement()
    if results["database"].is_problem:
        LOG.warning("%s The server starts, and is ready when the database is.", results["database"].reason)
    elif results["migrations"].is_problem:
        message = "%s Until then /readyz is 503, and requests that need the missing tables fail with 503."
        LOG.warning(message, results["migrations"].reason)


def require_agreement() -> Results:
    """Return the state of the database. Raises `SystemExit` if it and CONTENTAPI_DISTRIBUTED disagree."""
    with closing(DeadlineConnection()) as connection:
        results = check_database(connection, START_CHECK_LIMIT)
    reason = results["database"].reason
    if reason in REMEDIES:
        raise SystemExit(f"contentapi.CONTENTAPI_DISTRIBUTED: {reason}\n\tHINT: {REMEDIES[reason]}")
    return results
