"""Execute the mutations of an operation in one transaction: with `@atomic`, with an Idempotency-Key, or with both.

With `@atomic`, the first error ends the operation. With a key alone, each mutation has a savepoint and keeps its own
result, as without a key; but an error whose response is not stored ends the operation, because a retry with the key
executes all of it again. When an operation ends, everything that it wrote is rolled back.

Both have the same limit of time: their transaction holds locks.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from django.db import Error as DatabaseError
from django.db import connection, transaction
from graphql import ExecutionResult, GraphQLError

from contentapi.conf import conf
from contentapi.conf.timeouts import TRANSACTION_LIMIT
from contentapi.core.errors import Unavailable, to_api_error
from contentapi.core.identity import Actor
from contentapi.db.engine.transactions import lost_against_another, run_transaction
from contentapi.graphql.errors import find_cause
from contentapi.graphql.limits import build_limit_error
from contentapi.http.idempotency import is_storable, replay_or_execute
from contentapi.http.response import Response

Errors = Sequence[GraphQLError]
SAVEPOINT_STATEMENTS = ("SAVEPOINT ", "RELEASE ", "ROLLBACK ")  # end also after the time of the operation
MOST_EXCEEDED = 250  # milliseconds by which a statement may end after the time of its operation


class TransactionMode(NamedTuple):
    """How the mutations of one transaction are executed: `isolate` is around each of them, and `must_end` decides by
    the errors so far whether the operation ends.
    """

    isolate: Callable[[], AbstractContextManager[Any]]
    must_end: Callable[[Errors], bool]


class OperationAborted(Exception):
    """Errors have ended an operation, so that its transaction must be rolled back."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(errors[0].message)
        self.errors = errors


class OneTransaction:
    """The execution of an operation as one transaction.

    `execute` executes the operation in a `TransactionMode`, and `respond` returns the response to its result.
    """

    def __init__(
        self,
        execute: Callable[..., ExecutionResult],
        respond: Callable[[ExecutionResult], Response],
        *,
        is_atomic: bool,
    ) -> None:
        self.execute = execute
        self.respond = respond
        limit = TimeLimit(monotonic() + TRANSACTION_LIMIT, nullcontext if is_atomic else transaction.atomic)
        self.mode = TransactionMode(limit.guard_mutation, bool if is_atomic else has_unstored)

    def run(self, actor: Actor, key: str | None, request: str) -> Response:
        """Return the response to the operation, or the stored one. `request` is the hash of the request.

        Raises `Malformed`, `Invalid` or `Conflict` because of the key: then the operation was not executed.
        """
        try:
            if key is None:
                return run_transaction(self.attempt)
            return replay_or_execute(actor, key, request, self.attempt_to_store, self.render)
        except OperationAborted as aborted:
            return self.respond(ExecutionResult(None, list(aborted.errors)))
        except DatabaseError as error:  # of the transaction, such as its COMMIT
            return self.respond(ExecutionResult(None, [TransactionFailed(error)]))

    def attempt(self) -> Response:
        """Execute the operation. Raises `OperationAborted`, whose cause decides whether there is another attempt."""
        result = self.execute(mode=self.mode)
        if result.errors and self.mode.must_end(result.errors):
            causes = [error.original_error for error in result.errors]
            raise OperationAborted(result.errors) from next(filter(lost_against_another, causes), None)
        return self.respond(result)

    def attempt_to_store(self) -> Response:
        """Execute the operation, and abort it if its response is too large to be stored."""
        response = self.attempt()
        size, most = len(response.body), conf.environment.contentapi_max_body
        if size > most:
            what = "response in bytes with an Idempotency-Key"
            raise OperationAborted([TransactionFailed(build_limit_error(what, size, most, "contentapi_max_body"))])
        return response

    def render(self, error: Exception) -> Response | None:
        """Return the response to an error of `attempt`, if it may be stored."""
        if not isinstance(error, OperationAborted) or has_unstored(error.errors):
            return None
        return self.respond(ExecutionResult(None, list(error.errors)))


class TransactionFailed(GraphQLError):
    """The transaction was rolled back after the operation was executed. No field is the reason."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("", original_error=cause)
        self.path = []


def has_unstored(errors: Errors) -> bool:
    """Return whether one of the errors is temporary or a fault of the server: its response is not stored."""
    causes = [find_cause(error) for error in errors]
    return any(isinstance(cause, DatabaseError) or not is_storable(to_api_error(cause)) for cause in causes)


class TimeLimit:
    """Lets the statements of an operation end at a time of `monotonic`, by a wrapper of them.

    `isolate` is around each of its mutations.
    """

    def __init__(self, deadline: float, isolate: Callable[[], AbstractContextManager[Any]]) -> None:
        self.deadline = deadline
        self.isolate = isolate
        self.timeout = inf  # of the statements at present, in milliseconds

    @contextmanager
    def guard_mutation(self) -> Iterator[None]:
        """Limit the time of the statements of the block. Raises `Unavailable` after the time, also in the block."""
        self.timeout = inf  # an attempt may have been rolled back
        with connection.execute_wrapper(self), self.isolate():
            yield
        self.require_time_left()

    def __call__(self, execute: Callable[..., Any], sql: Any, *others: Any) -> Any:
        """Execute a statement with the time that is left, which is set only if it is much less than before."""
        if str(sql).startswith(SAVEPOINT_STATEMENTS):
            self.timeout = inf  # a rollback restores the former setting
        else:
            left = self.require_time_left()
            if left < self.timeout - MOST_EXCEEDED:
                self.timeout = left
                connection.connection.execute(f"SET LOCAL statement_timeout = {left}")
        return execute(sql, *others)

    def require_time_left(self) -> int:
        """Return the milliseconds for which a statement may run. Raises `Unavailable`."""
        left = int((self.deadline - monotonic()) * 1000)
        if left <= 0:
            message = f"The operation took more than {TRANSACTION_LIMIT:g} s and was rolled back. Send fewer mutations."
            raise Unavailable(message, limit="time of a transaction")
        return min(left, conf.environment.contentapi_statement_timeout)
