"""Run a function as one transaction, again if PostgreSQL ended it because of another transaction."""

from collections.abc import Callable
from typing import TypeVar

from django.db import transaction
from psycopg.errors import DeadlockDetected, SerializationFailure

T = TypeVar("T")

MAX_RETRIES = 3


def run_transaction(action: Callable[[], T]) -> T:
    """Call `action` in a transaction, up to four times while it loses against other transactions.

    Call this outside of a transaction. Raises what `action` raises, and the database errors of COMMIT.
    """
    for _ in range(MAX_RETRIES):
        try:
            with transaction.atomic():
                return action()
        except Exception as error:
            if not lost_against_another(error):
                raise
    with transaction.atomic():
        return action()


def lost_against_another(error: BaseException | None) -> bool:
    """Return whether a serialization failure or a deadlock caused an error. The same transaction can succeed later."""
    if isinstance(error, SerializationFailure | DeadlockDetected):
        return True
    return error is not None and lost_against_another(error.__cause__)
