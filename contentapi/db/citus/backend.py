"""The hooks of a distributed database."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from contentapi.db.citus.shards import bind_shard
from contentapi.db.distribution import CLAIMS, Backend, IsHeld, Row, T
from contentapi.db.placement import get_shard_key
from contentapi.db.statements import execute, fetch_column

# Of the claims of an object, on the coordinator, which releases it when the transaction has ended on all nodes
LOCK_HOLDER = "SELECT pg_advisory_xact_lock(-%s)"
# Locks the row, and returns the object that has it
CLAIM = f"""
    INSERT INTO {CLAIMS} (kind, value, post_id) VALUES (%s, %s, %s)
    ON CONFLICT (value, kind) DO UPDATE SET kind = EXCLUDED.kind RETURNING post_id
"""  # noqa: S608 - constants
TAKE_OVER = f"UPDATE {CLAIMS} SET post_id = %s WHERE kind = %s AND value = %s"  # noqa: S608 - constants


class CitusBackend(Backend):
    place = staticmethod(bind_shard)

    def choose(self, at_once: T, by_shard: T) -> T:  # noqa: ARG002 - of the hook
        return by_shard

    insert = nested = announce = choose

    def claim(self, kind: str, value: str, holder_id: int, is_held: IsHeld) -> bool:
        """Claim a unique value of an object, such as a slug: a unique index of a shard does not see other shards.

        A table that is distributed by the value has a row for each, and its primary key lets one transaction wait for
        another. A claim whose object does not have the value any more is void.
        """
        execute(LOCK_HOLDER, [holder_id])
        [holder] = fetch_column(CLAIM, [kind, value, holder_id])
        if holder == holder_id:
            return True
        execute(LOCK_HOLDER, [holder])  # it can have its commit after its claim
        if is_held(value, holder):
            return False
        execute(TAKE_OVER, [holder_id, kind, value])
        return True

    def lock(
        self, rows: QuerySet[Any, Row], limit: int | None = None, *, skip_locked: bool = False, of: Sequence[str] = ()
    ) -> QuerySet[Any, Row]:
        """Find the rows, lock them one by one, and read them under their locks. A statement locks rows of one shard."""
        options = rows.model._meta  # noqa: SLF001
        key = next(each for each in options.concrete_fields if each.column == get_shard_key(options))
        model: Any = key.related_model if key.name in of else rows.model
        locked, keys = [], set()
        for shard, pk in sorted(set(rows.values_list(key.attname, "pk")[:limit])):
            found = {"pk": shard} if key.name in of else {key.attname: shard, "pk": pk}
            if model._base_manager.select_for_update(skip_locked=skip_locked).filter(**found).values_list("pk"):  # noqa: SLF001
                locked.append(pk)
                keys.add(shard)
        return rows.filter(**{"pk__in": locked, f"{key.attname}__in": keys})


BACKEND = CitusBackend()
