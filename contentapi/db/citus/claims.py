"""Unique values of objects on a distributed database, such as slugs: the writer of one claims it first.

A unique index of a shard does not see other shards. So a table that is distributed by the value has a row for each, and
its primary key lets one transaction wait for another. A claim whose object does not have the value any more is void.
"""

from django.db import connection

from contentapi.db.distribution import CLAIMS, IsHeld

# Of the claims of an object, on the coordinator, which releases it when the transaction has ended on all nodes
LOCK_HOLDER = "SELECT pg_advisory_xact_lock(-%s)"
# Locks the row, and returns the object that has it
CLAIM = f"""
    INSERT INTO {CLAIMS} (kind, value, post_id) VALUES (%s, %s, %s)
    ON CONFLICT (value, kind) DO UPDATE SET kind = EXCLUDED.kind RETURNING post_id
"""  # noqa: S608 - constants
TAKE_OVER = f"UPDATE {CLAIMS} SET post_id = %s WHERE kind = %s AND value = %s"  # noqa: S608 - constants


def claim(kind: str, value: str, holder_id: int, is_held: IsHeld) -> bool:
    """Claim a value for an object, in a transaction. Return whether no other has it."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_HOLDER, [holder_id])
        cursor.execute(CLAIM, [kind, value, holder_id])
        (holder,) = cursor.fetchone()
        if holder == holder_id:
            return True
        cursor.execute(LOCK_HOLDER, [holder])  # it can have its commit after its claim
        if is_held(value, holder):
            return False
        cursor.execute(TAKE_OVER, [holder_id, kind, value])
        return True
