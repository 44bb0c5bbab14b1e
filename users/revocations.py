"""Revoked JWT ids, cached in each process so that a request needs no query.

A process knows at once what its own OAuth endpoints revoke. A thread reads all other revocations every `EVERY` seconds:
those of other processes, and those that follow from deleted accounts, locked accounts and new roles.
"""

import logging
import time
from threading import Lock, Thread

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from contentapi.http.failure_log import describe_exception
from users.models import IssuedToken

LOG = logging.getLogger("users.revocations")
EVERY = 2.0


def log_outage(error: Exception) -> None:
    """Log why revocations cannot be read: a database failure in one line, anything else with its traceback."""
    is_database = isinstance(error, DatabaseError)
    reason = describe_exception(error) if is_database else type(error).__name__
    LOG.error(
        "New revocations are not known at present; older ones still are. %s",
        reason,
        exc_info=None if is_database else error,
    )


class RevokedTokenCache:
    """The ids of revoked tokens that have not expired."""

    def __init__(self) -> None:
        self.revoked: frozenset[str] = frozenset()
        self.lock = Lock()
        self.looking = Lock()
        self.watcher: Thread | None = None

    def __contains__(self, jti: str) -> bool:
        if self.watcher is None and settings.SERVING:
            self.begin()
        return jti in self.revoked

    def begin(self) -> None:
        """Look once, so that the first request of a server's process is answered rightly; then leave it to a thread."""
        with self.lock:
            if self.watcher is None:
                self.refresh()
                self.watcher = Thread(target=self.watch, name="revocations", daemon=True)
                self.watcher.start()

    def refresh(self) -> None:
        """Look now. One after the other: what was read earlier must not take the place of what was read later."""
        with self.looking:
            self.revoked = frozenset(IssuedToken.objects.all().revoked(timezone.now()).values_list("jti", flat=True))

    def watch(self) -> None:
        knows = True
        while True:
            time.sleep(EVERY)
            try:
                close_old_connections()
                self.refresh()
                knows = True
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look may go well
                if knows:
                    log_outage(error)
                knows = False
                connection.close()


REVOCATIONS = RevokedTokenCache()
