"""Recognise a connection pooler between a process and PostgreSQL, such as PgBouncer in transaction mode.

A pooler gives a session to another client after each transaction. So a lock or a setting of the session is lost, or
remains with somebody else. The server needs neither; the worker needs both.
"""

from typing import Any


def is_pooled(connection: Any) -> bool:
    """Return whether a pooler answers for PostgreSQL on a Django connection.

    The process id that a pooler reported at the start of the connection is its own. Raises Django's database errors.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return bool(connection.connection.info.backend_pid != pid)
