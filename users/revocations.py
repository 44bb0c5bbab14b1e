"""Revoked JWT ids, cached in each process so that a request needs no query.

After a revocation by its own OAuth endpoints, a process refreshes the cache at once. A thread refreshes it every
`REVOCATION_INTERVAL` seconds: other processes revoke tokens, and so do the deletion and the locking of a user and a new
role.
"""

import logging
import time
from threading import Lock, Thread

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from contentapi.conf.timeouts import REVOCATION_INTERVAL
from contentapi.core.replicas import read_credential
from contentapi.http.request_log import describe_exception
from users.models import IssuedToken

LOG = logging.getLogger("users.revocations")


class RevokedTokenCache:
    """The ids of revoked tokens that have not expired."""

    def __init__(self) -> None:
        self.revoked: frozenset[str] = frozenset()
        self.start_lock = Lock()
        self.refresh_lock = Lock()
        self.thread: Thread | None = None

    def __contains__(self, jti: str) -> bool:
        if self.thread is None and settings.SERVING:
            self.start()
        return jti in self.revoked

    def start(self) -> None:
        """Read the revocations before the first request is answered, then start the thread that refreshes them."""
        with self.start_lock:
            if self.thread is None:
                self.refresh()
                self.thread = Thread(target=self.refresh_forever, name="revocations", daemon=True)
                self.thread.start()

    def refresh(self) -> None:
        """Read the revocations now. The lock keeps an older result from replacing a newer one."""
        with self.refresh_lock:
            self.revoked, _ = read_credential(read_revoked_tokens)

    def refresh_forever(self) -> None:
        """Refresh the cache periodically. Of consecutive failures only the first is logged."""
        has_failed = False
        while True:
            time.sleep(REVOCATION_INTERVAL)
            try:
                close_old_connections()
                self.refresh()
                has_failed = False
            except Exception as error:  # noqa: BLE001 - the next refresh may succeed
                if not has_failed:
                    log_refresh_failure(error)
                has_failed = True
                connection.close()


def read_revoked_tokens() -> frozenset[str]:
    return frozenset(IssuedToken.objects.all().revoked(timezone.now()).values_list("jti", flat=True))


def log_refresh_failure(error: Exception) -> None:
    """Log a database failure in one line, and any other failure with its traceback."""
    is_database = isinstance(error, DatabaseError)
    reason = describe_exception(error) if is_database else type(error).__name__
    message = "New revocations are not known at present; older ones still are. %s"
    LOG.error(message, reason, exc_info=None if is_database else error)


REVOCATIONS = RevokedTokenCache()
