"""Django database engine for a distributed database. Triggers on other nodes see the settings of the transaction."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db.backends.postgresql import operations

from contentapi.db.engine import base

# `pghistory.context` puts this in front of a statement. Citus repeats only SET LOCAL on the nodes of the shards.
PREFIX = re.compile(r"SELECT set_config\('pghistory\.context_id', [^;]*; ")
NAMES = ("context_id", "context_metadata")
UNTRACKED = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "contentapi.db.citus.compiler"


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def execute_wrapper(self, wrapper: Callable[..., Any]) -> AbstractContextManager[None]:
        """Install a wrapper of statements. The settings that it puts in front of them reach every node."""

        def execute_wrapped(execute: Callable[..., Any], *arguments: Any) -> Any:
            return wrapper(partial(execute_with_settings, execute), *arguments)

        installed: AbstractContextManager[None] = super().execute_wrapper(execute_wrapped)
        return installed


def execute_with_settings(execute: Callable[..., Any], sql: str, params: Any, *others: Any) -> Any:
    """Execute the settings in front of a statement as statements of their own, and then the statement."""
    prefix = PREFIX.match(sql)
    if prefix is None:
        return execute(sql, params, *others)
    statement = sql[prefix.end() :]
    if isinstance(params, dict):
        values = [params[f"pghistory__{name}"] for name in NAMES]
    else:
        values, params = params[: len(NAMES)], params[len(NAMES) :]
    for name, value in zip(NAMES, values, strict=True):
        if not statement.startswith(UNTRACKED):
            execute(f"SET LOCAL pghistory.{name} = %s", [value], *others)
    return execute(statement, params, *others)
