"""The triggers of a distributed database, which run on the nodes of the shards.

Their functions are those of the migrations with replacements. A migration loses them, and `distribute` adds them again.
"""

import re
from typing import Any

from contentapi.db.placement import list_attributes, list_copied, list_shard_keys

READ_FUNCTIONS = """
    SELECT DISTINCT tgrelid::regclass::text, tgfoid::regproc::text, prosrc
    FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND tgrelid::regclass::text = ANY(%s) ORDER BY 1, 2
"""
# Citus plans INSERT … SELECT without the values of NEW and OLD, so that it asks all shards, on other nodes too.
INSERTION = re.compile(r"INSERT INTO (\w+) \(([^()]*)\)\s+SELECT (.*?)(?=;\s+RETURN NULL)", re.DOTALL)
SUBJECT = re.compile(r"\b(NEW|OLD)\.id\b")
# All nodes have a copy of the row, and their triggers run for one change.
ON_ONE_NODE = "IF (SELECT groupid <> 0 FROM pg_dist_local_group) THEN RETURN NULL; END IF; "
# In all functions. `shard_triggers` of models add to it.
REPLACED = {"EXISTS (SELECT FROM": "EXISTS (SELECT 1 FROM"}


def adapt_function(table: str, source: str) -> str:
    """Return the body of the function of a trigger for a distributed database."""
    for replaced in (REPLACED, *list_attributes("shard_triggers").values()):
        for found, replacement in replaced.items():
            source = source.replace(found, replacement)
    source = INSERTION.sub(insert_values, source)
    if table in list_copied() and "RETURN NULL" in source and ON_ONE_NODE not in source:
        source = re.sub(r"\bBEGIN\s", f"BEGIN {ON_ONE_NODE}", source, count=1)
    return source


def insert_values(found: re.Match[str]) -> str:
    """Return statements that insert the selected rows one by one.

    The outbox is distributed by `parent_id`. An event that has no parent gets its subject. The relay removes it again.
    """
    table, columns, values = found.groups()
    if table == "events_outbox" and "parent_id" not in columns:
        (row,) = set(SUBJECT.findall(values))
        columns, values = f"parent_id, {columns}", f"{row}.id, {values}"
    rows = f"SELECT * FROM (SELECT {values}) AS added({columns})"  # noqa: S608 - texts of migrations
    insertion = f"INSERT INTO {table} ({columns}) VALUES (added.{columns.replace(', ', ', added.')})"  # noqa: S608
    return f"DECLARE added record; BEGIN FOR added IN {rows} LOOP {insertion}; END LOOP; END"


def list_adapted_functions(cursor: Any) -> list[str]:
    """Return a statement for each function that is not adapted yet."""
    cursor.execute(READ_FUNCTIONS, [[*list_shard_keys()]])
    rows = [(name, source, adapt_function(table, source)) for table, name, source in cursor.fetchall()]
    create = "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $function${}$function$"
    return [create.format(name, adapted) for name, source, adapted in rows if adapted != source]
