"""Work that is done at its time: publish the posts that are due, and keep the search index up to date.

`manage.py clock` and `make run` run the clock. Several clocks can run at the same time: a publication locks its post
and checks it again under the lock, and one clock at a time writes the search index.
"""

import logging
from threading import Event

from django.db import DatabaseError, connection

from blog import services
from blog.indexing import SearchIndexer
from contentapi.core.identity import OPERATOR

logger = logging.getLogger("contentapi.clock")
INTERVAL = 5  # seconds; a post is published, and a change is found, at most 10 seconds after its time


def run_clock(stop: Event) -> None:
    """Do the work that is due, every five seconds, until `stop` is set.

    While the database does not answer, the clock tries again at each interval. It logs the outage once.
    """
    available = True
    indexer = SearchIndexer()
    try:
        while not stop.is_set():
            has_more = False
            try:
                do_due_work(stop)
                has_more = indexer.update(actor=OPERATOR)
                available = True
            except DatabaseError as error:
                if available:
                    logger.warning("The clock cannot use the database, and continues to try: %s", str(error).strip())
                available = False
                connection.close()
            if not has_more:
                stop.wait(INTERVAL)
    finally:
        connection.close()


def do_due_work(stop: Event) -> None:
    """Publish the posts that are due. Return early after the current post when `stop` is set."""
    for post in services.publish_due_posts(actor=OPERATOR):
        logger.info("Published post %s, which was scheduled.", post.pk)
        if stop.is_set():
            return
