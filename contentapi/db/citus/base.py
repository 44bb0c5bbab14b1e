"""Django database engine for a distributed database. Triggers on other nodes see the settings of the transaction."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db.backends.postgresql import operations

from contentapi.db.engine import base

# `pghistory.context` puts this in front of a statement. Citus repeats only SET LOCAL on the nodes of the shards.
SET_CONFIG = re.compile(r"(?:SELECT |, )set_config\('([\w.]+)', (%s|%\(\w+\)s), true\)(?=[,;])(?:; )?")


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = "contentapi.db.citus.compiler"


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def execute_wrapper(self, wrapper: Callable[..., Any]) -> AbstractContextManager[None]:
        """Install a wrapper of statements, whose settings reach every node."""
        wrapped: AbstractContextManager[None] = super().execute_wrapper(partial(execute_wrapped, wrapper))
        return wrapped


def execute_wrapped(
    wrapper: Callable[..., Any], execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any  # noqa: FBT001
) -> Any:
    def execute_with_settings(sql: Any, *others: Any) -> Any:
        text = sql.decode() if isinstance(sql, bytes) else sql
        return execute(replace_set_config(text), *others)

    return wrapper(execute_with_settings, sql, params, many, context)


def replace_set_config(sql: str) -> str:
    """Return a statement with SET LOCAL in place of the calls of set_config before it:

    SET LOCAL pghistory.context_id = %s; SET LOCAL pghistory.context_metadata = %s; UPDATE …
    """
    return SET_CONFIG.sub(r"SET LOCAL \1 = \2; ", sql) if sql.startswith("SELECT set_config(") else sql
