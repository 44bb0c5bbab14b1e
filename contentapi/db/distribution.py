"""What differs on a database that is distributed over several servers: the hooks of its backend.

Their defaults are those of one PostgreSQL. `contentapi.db.citus` has the others, and is imported when it is used.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import psycopg
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from contentapi.conf import conf

T = TypeVar("T")
Row = TypeVar("Row")
IsHeld = Callable[[str, int], bool]  # whether an object has a value, or keeps it
Connection = psycopg.Connection[Any]

# Unique values of objects, which a unique index of a shard cannot compare: a table that is distributed by the value.
CLAIMS = "citus_claim"
MISSING = "The database is distributed, and CONTENTAPI_DISTRIBUTED is not set."
UNEXPECTED = "CONTENTAPI_DISTRIBUTED is citus, and the database is not distributed."
WORKER = "This node of the cluster is a worker."
POOLED = "The settings of a distributed database are not in effect: a pooler drops the options of sessions."
REMEDIES = {
    MISSING: "Set CONTENTAPI_DISTRIBUTED=citus for each process.",
    UNEXPECTED: "Run python manage.py distribute, or unset CONTENTAPI_DISTRIBUTED.",
    WORKER: "Set DATABASE_URL to the address of the coordinator.",
    POOLED: "Set them for the role: see docs/operations/cluster.md.",
}


class Backend:
    """One PostgreSQL."""

    def choose(self, at_once: T, by_shard: T) -> T:  # noqa: ARG002 - for the other backend
        """Return one of two forms of the same."""
        return at_once

    insert = choose  # how to insert a row whose conditions are in other shards
    nested = choose  # how to read rows together with those of other shards
    announce = choose  # how to write and read events, which triggers write on the nodes of the shards

    def claim(self, kind: str, value: str, holder_id: int, is_held: IsHeld) -> bool:  # noqa: ARG002
        """Claim a value for an object, in a transaction. Return whether no other has it: a unique index decides."""
        return True

    def lock(
        self, rows: QuerySet[Any, Row], limit: int | None = None, *, skip_locked: bool = False, of: Sequence[str] = ()
    ) -> QuerySet[Any, Row]:
        """Return the rows, or the first ones, locked until the transaction ends. `of` is Django's, with one name."""
        return rows.select_for_update(skip_locked=skip_locked, of=of)[:limit]

    def place(self, query: Any, sql: str, parameters: Sequence[Any]) -> tuple[str, Sequence[Any]]:  # noqa: ARG002
        """Return the SQL of a query about one object as a statement of its shard."""
        return sql, parameters


ONE_SERVER = Backend()


def is_distributed() -> bool:
    return bool(conf.environment.contentapi_distributed)


def get_backend() -> Backend:
    if not is_distributed():
        return ONE_SERVER
    backend: Backend = import_string("contentapi.db.citus.backend.BACKEND")
    return backend


def find_mismatch(*, has_migrations: bool, has_claims: bool, has_settings: bool) -> str:
    """Return what is wrong with the database, its connection and CONTENTAPI_DISTRIBUTED, or an empty text.

    `has_migrations` is whether the table of migrations is there, which a worker lacks. `has_claims` is whether
    `distribute` has run on the database, `has_settings` whether this session has the settings of a distributed one.
    """
    if not has_migrations:
        return WORKER if has_claims else ""
    if has_claims != is_distributed():
        return MISSING if has_claims else UNEXPECTED
    return POOLED if has_claims and not has_settings else ""
