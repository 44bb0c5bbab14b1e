"""Work that is done at its time: publish due posts, import zip files, update the search index, purge what is old.

`manage.py clock` and `make run` run the clock. Several clocks can run at the same time: a publication locks its post
and checks it again under the lock, and one clock at a time writes the search index.
"""

import logging
from collections.abc import Callable
from threading import Event

from django.db import Error as DatabaseErrors
from django.db import connection

from blog import moderation, services
from blog.files import jobs
from blog.files.job_worker import ImportWorker
from blog.history import trash
from blog.search.indexing import SearchIndexer
from contentapi.core.identity import CLOCK, OPERATOR
from contentapi.db.engine.pooling import warn_if_pooled
from contentapi.health.heartbeat import Heartbeat

logger = logging.getLogger("contentapi.clock")
INTERVAL = 5  # seconds; a post is published, and a change is found, at most 10 seconds after its time


def run_clock(stop: Event, report_round: Callable[[], object] = lambda: None) -> None:
    """Do the work that is due, every five seconds, until `stop` is set. Call `report_round` before each round.

    After an error the clock tries again at the next interval. While the database does not answer, it logs one line.
    """
    with Heartbeat() as heartbeat, connection.execute_wrapper(heartbeat):
        run_rounds(stop, heartbeat, report_round)


def run_rounds(stop: Event, heartbeat: Heartbeat, report_round: Callable[[], object]) -> None:
    available = True
    is_checked = False
    indexer = SearchIndexer()
    importer = ImportWorker()
    try:
        while not stop.is_set():
            report_round()
            has_more = False
            try:
                if not is_checked:
                    warn_if_pooled(connection, "The clock")
                    is_checked = True
                limit_waiting()
                do_due_work(stop)
                has_more = importer.work(stop)
                has_more = indexer.update(actor=OPERATOR) or has_more
                available = True
                heartbeat.note_round()
            except DatabaseErrors as error:
                if available:
                    logger.warning("The clock cannot use the database, and continues to try: %s", str(error).strip())
                available = False
                heartbeat.note_failure()
                importer.drop()
                connection.close()
            except Exception:
                logger.exception("The clock failed, and continues.")
                heartbeat.note_failure()
                importer.drop()
                connection.close()
            if not has_more:
                stop.wait(INTERVAL)
    finally:
        importer.drop()
        connection.close()


def limit_waiting() -> None:
    """Limit the time of a statement, and of waiting for a lock: the clock must be able to stop."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '60s'; SET lock_timeout = '2s'")


def do_due_work(stop: Event) -> None:
    """Publish the posts that are due, then purge the history, deleted comments and old imports.

    Return early after a post when `stop` is set.
    """
    for post in services.publish_due_posts(actor=CLOCK):
        logger.info("Published post %s, which was scheduled.", post.pk)
        if stop.is_set():
            return
    purged = trash.purge_history(actor=CLOCK)
    if purged:
        logger.info("Deleted the history of %s posts, which were deleted more than 30 days ago.", purged)
    purged = moderation.purge_comments(actor=CLOCK)
    if purged:
        logger.info("Deleted %s comments, which moderators or authors deleted more than 30 days ago.", purged)
    jobs.purge_imports(actor=CLOCK)
