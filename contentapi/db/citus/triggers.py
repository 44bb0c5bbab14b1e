"""The triggers of a distributed database, which run on the nodes of the shards.

A migration creates the form of one PostgreSQL. `distribute` replaces it by the other form of `PlacedTrigger`.
"""

import pgtrigger

from contentapi.db.placement import PlacedTrigger, list_copied
from contentapi.db.statements import fetch_column

# All nodes have a copy of the row, and their triggers run for one change.
ON_ONE_NODE = "IF (SELECT groupid <> 0 FROM pg_dist_local_group) THEN RETURN NULL; END IF; "
READ_BODY = "SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace"
CREATE = "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $function${}$function$"


def list_adapted_functions() -> list[str]:
    """Return a statement for each function that is not adapted yet."""
    statements = []
    for model, trigger in pgtrigger.registered():
        if isinstance(trigger, PlacedTrigger):
            name, body = trigger.get_pgid(model), build_body(model._meta.db_table, trigger.shard_func)  # noqa: SLF001
            if fetch_column(READ_BODY, [name]) != [body]:
                statements.append(CREATE.format(name, body))
    return statements


def build_body(table: str, func: str) -> str:
    return f"BEGIN {ON_ONE_NODE if table in list_copied() else ''}{func} END;"
