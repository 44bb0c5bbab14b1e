"""Django database engine for a distributed database. Triggers on other nodes see the settings of the transaction."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db.backends.postgresql import operations

from contentapi.db.engine import base

# `pghistory.context` puts this in front of a statement. Citus repeats SET LOCAL on the nodes of the shards, and only if
# it is a statement of its own.
PREFIX = re.compile(
    r"SELECT set_config\('pghistory.context_id', (?P<id>%s|%\(\w+\)s), true\), "
    r"set_config\('pghistory.context_metadata', (?P<metadata>%s|%\(\w+\)s), true\); "
)
UNTRACKED = ("SAVEPOINT", "RELEASE", "ROLLBACK")


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
    return wrapper(partial(execute_with_settings, execute), sql, params, many, context)


def execute_with_settings(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
    """Execute the settings in front of a statement as statements of their own, and then the statement."""
    text = sql.decode() if isinstance(sql, bytes) else sql
    prefix = PREFIX.match(text)
    if prefix is None:
        return execute(sql, params, many, context)
    text, own = text[prefix.end() :], params
    if not isinstance(params, dict):
        own, params = params[:2], params[2:] or None
    if not text.startswith(UNTRACKED):
        id_, metadata = (own[name[2:-2]] for name in prefix.groups()) if isinstance(own, dict) else own
        execute("SET LOCAL pghistory.context_id = %s", [id_], False, context)
        execute("SET LOCAL pghistory.context_metadata = %s", [metadata], False, context)
    return execute(text, params, many, context)
