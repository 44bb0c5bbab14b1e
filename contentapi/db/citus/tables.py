"""The tables of a distributed database that no model has. `contentapi.db.placement` has the places of the others."""

# Unique values of objects, which a unique index of a shard cannot compare: a table that is distributed by the value.
CLAIMS = "citus_claim"
# Changes nothing. With it, a transaction of the coordinator and one node has two phases, because Citus knows the table:
# otherwise the node commits first, and a coordinator that fails then loses its own changes.
TWO_PHASES = "DELETE FROM contentapi_idempotencyrecord WHERE key = ''"
