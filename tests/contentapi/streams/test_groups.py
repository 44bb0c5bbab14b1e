"""Which errors a group of streams waits out."""

import pytest
from django.db import OperationalError
from psycopg import OperationalError as ConnectionLost
from psycopg.errors import AdminShutdown, DeadlockDetected, QueryCanceled, TooManyConnections

from contentapi.streams.groups import may_end


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (ConnectionLost("gone"), True),
        (AdminShutdown("the end"), True),
        (TooManyConnections("full"), True),
        (QueryCanceled("late"), False),
        (DeadlockDetected("a deadlock"), False),
    ],
)
def test_only_a_database_that_is_away_is_an_outage(*, cause: Exception, expected: bool) -> None:
    error = OperationalError(str(cause))
    error.__cause__ = cause

    assert may_end(error) is expected
