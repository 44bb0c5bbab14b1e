import pytest
from django.db import DataError, Error, InterfaceError, InternalError, OperationalError
from psycopg import errors

from contentapi.db.outages import is_outage


@pytest.mark.parametrize(
    ("error", "cause", "expected"),
    [
        (OperationalError("gone"), None, True),  # an error of libpq
        (InterfaceError("the connection is closed"), None, True),
        (OperationalError(), errors.AdminShutdown(), True),
        (OperationalError(), errors.ConnectionFailure(), True),
        (OperationalError(), errors.TooManyConnections(), True),
        (InternalError(), errors.ReadOnlySqlTransaction(), True),
        (InternalError(), errors.IdleInTransactionSessionTimeout(), True),
        (InternalError("server closed the connection"), errors.InternalError_(), True),  # a node of Citus
        (InternalError(), errors.InternalError_(), False),
        (OperationalError(), errors.QueryCanceled(), False),
        (OperationalError(), errors.OutOfMemory(), False),
        (OperationalError(), errors.LockNotAvailable(), False),
        (OperationalError(), errors.DeadlockDetected(), False),
        (DataError(), None, False),
        (DataError("could not commit"), errors.DataException(), False),  # a value that the message quotes
    ],
)
def test_outage_is_an_error_of_the_database_and_not_of_a_statement(
    error: Error, cause: Exception | None, *, expected: bool
) -> None:
    error.__cause__ = cause

    assert is_outage(error) is expected
