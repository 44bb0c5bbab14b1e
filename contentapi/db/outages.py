"""Whether the database is away: the error is not one of the statement, which can succeed later or on another server."""

import re

from django.db import InterfaceError, InternalError, OperationalError

# SQLSTATEs: a lost connection, a standby, a transaction of a process that was stopped, a lack of connections, an end of
# the server. A lack of memory or space may be due to one statement.
AWAY = ("08", "25006", "25P03", "53300", "57P")
# A distributed database passes on the message of a node. It has no error of its own for a node that is lost.
LOST_NODE = re.compile("server closed|could not commit")


def is_outage(error: Exception) -> bool:
    """Return whether an error of Django means that the database is away. Errors of libpq have no SQLSTATE."""
    if isinstance(error, InternalError) and LOST_NODE.search(str(error)):
        return True
    code = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, OperationalError | InterfaceError) if code is None else code.startswith(AWAY)
