"""Work that is done at its time: publish the posts that are due, and delete the history of posts that were deleted
more than 30 days ago. `manage.py clock` and `make run` run the clock.

Several clocks can run at the same time: each task locks the rows that it changes, and checks them again under the lock.
"""

import logging
from threading import Event

from django.db import DatabaseError, connection

from blog import history, services
from contentapi.core.identity import OPERATOR

logger = logging.getLogger("contentapi.clock")
CLOCK = OPERATOR.through("clock")
INTERVAL = 5  # seconds; a post is published at most this long after its time


def run_clock(stop: Event) -> None:
    """Do the work that is due, every five seconds, until `stop` is set.

    While the database does not answer, the clock tries again at each interval. It logs the outage once.
    """
    available = True
    try:
        while not stop.is_set():
            try:
                do_due_work(stop)
                available = True
            except DatabaseError as error:
                if available:
                    logger.warning("The clock cannot use the database, and continues to try: %s", str(error).strip())
                available = False
                connection.close()
            stop.wait(INTERVAL)
    finally:
        connection.close()


def do_due_work(stop: Event) -> None:
    """Publish the posts that are due, then purge the history. Return early after a post when `stop` is set."""
    for post in services.publish_due_posts(actor=CLOCK):
        logger.info("Published post %s, which was scheduled.", post.pk)
        if stop.is_set():
            return
    purged = history.purge_history(actor=CLOCK)
    if purged:
        logger.info("Deleted the history of %s posts, which were deleted more than 30 days ago.", purged)
