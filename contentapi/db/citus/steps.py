"""The steps from one PostgreSQL to a distributed database.

Each step is a transaction. The steps are those that the catalog still lacks, also after an interruption or a migration.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import pgtrigger

from contentapi.db.distribution import CLAIMS
from contentapi.db.placement import PlacedTrigger, list_attributes, list_copied, list_distributed, list_shard_keys
from contentapi.db.statements import fetch_column, fetch_rows

OLDEST_VERSION = 13
DROPPED = "citus_dropped_key"  # foreign keys that come back when their tables are distributed
READ_DISTRIBUTED = "SELECT logicalrelid::regclass::text FROM pg_dist_partition WHERE partmethod IN ('h', 'n')"
READ_FOREIGN_KEYS = """
    SELECT conrelid::regclass::text, confrelid::regclass::text, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname
"""
# The indexes of a table, those of the primary key and of constraints too, with the names of their columns
READ_INDEXES = """
    SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisunique, indisprimary, conname,
        ARRAY(SELECT attname::text FROM unnest(indkey) WITH ORDINALITY AS key(number, place)
              JOIN pg_attribute ON attrelid = indrelid AND attnum = number ORDER BY place)
    FROM pg_index LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
    WHERE indrelid = %s::regclass ORDER BY 1
"""
# The functions that are on the coordinator alone, because they are older than the extension. Triggers call them.
READ_FUNCTIONS = """
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND prorettype <> 'trigger'::regtype
      AND oid NOT IN (SELECT objid FROM pg_depend WHERE classid = 'pg_proc'::regclass AND deptype = 'e')
      AND oid NOT IN (SELECT objid FROM pg_dist_object WHERE classid = 'pg_proc'::regclass) ORDER BY 1
"""
# Citus leaves the rows that it has copied to other nodes, and would build indexes of them too.
TRUNCATE = "SELECT truncate_local_data_after_distributing_table('{}')"
# The copied rows are not new: no trigger on the shards may announce them.
QUIETLY = ("SET LOCAL citus.propagate_set_commands = 'local'", "SET LOCAL session_replication_role = replica")
# Citus must know a table for `TWO_PHASES` of the relay. A restored backup has the claims, which are not distributed.
CREATE_CLAIMS = f"""
    SELECT citus_add_local_table_to_metadata('contentapi_idempotencyrecord');
    DROP TABLE IF EXISTS {CLAIMS};
    CREATE TABLE {CLAIMS} (kind text, value text, post_id bigint NOT NULL, PRIMARY KEY (value, kind));
    SELECT create_distributed_table('{CLAIMS}', 'value', colocate_with => 'none', shard_count => {{shards}})
"""
ADD_KEYS = f"""
    DO $do$ DECLARE key record; BEGIN
        FOR key IN SELECT statement FROM {DROPPED} ORDER BY name LOOP EXECUTE key.statement; END LOOP;
    END $do$; DROP TABLE {DROPPED}
"""  # noqa: S608 - constants

# All nodes have a copy of the row, and their triggers run for one change.
ON_ONE_NODE = "IF (SELECT groupid <> 0 FROM pg_dist_local_group) THEN RETURN NULL; END IF; "
READ_BODY = "SELECT prosrc FROM pg_proc WHERE proname = %s AND pronamespace = current_schema()::regnamespace"
CREATE = "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $function${}$function$"


class Step(NamedTuple):
    """What a step does, for operators, and its statements."""

    description: str
    statements: Sequence[str]


class NotReady(Exception):
    """The database cannot be distributed as it is. The message says why, and what to do."""


def has_table(name: str) -> bool:
    return fetch_column("SELECT to_regclass(%s)", [name]) != [None]


def require_citus() -> None:
    """Raise `NotReady` without the extension, its version, the coordinator and workers."""
    versions = fetch_column("SELECT extversion FROM pg_extension WHERE extname = 'citus'")
    if not versions or int(versions[0].split(".")[0]) < OLDEST_VERSION:
        raise NotReady(f"This database lacks Citus {OLDEST_VERSION} or newer. On each node: CREATE EXTENSION citus")
    if not fetch_column("SELECT 1 FROM pg_dist_local_group WHERE groupid = 0"):
        raise NotReady("This node is a worker. Set DATABASE_URL to the address of the coordinator.")
    if not fetch_column("SELECT 1 FROM pg_dist_node WHERE groupid = 0"):
        raise NotReady("The workers do not know the coordinator: SELECT citus_set_coordinator_host('its name', 5432)")
    if not fetch_column("SELECT 1 FROM pg_dist_node WHERE groupid <> 0 AND shouldhaveshards"):
        raise NotReady("The cluster has no worker: SELECT citus_add_node('its name', 5432)")


def require_tables() -> None:
    """Raise `NotReady` if the database lacks a table."""
    known = f"unnest(ARRAY{[*list_shard_keys()]}) AS name"
    if missing := fetch_column(f"SELECT name FROM {known} WHERE to_regclass(name) IS NULL ORDER BY 1"):  # noqa: S608
        raise NotReady(f"Migrate first: python manage.py migrate. Tables are missing: {', '.join(missing)}.")


def list_steps(shards: int) -> Iterator[Step]:
    """Yield the steps that are left. Raises `NotReady`."""
    require_citus()
    require_tables()
    distributed = set(fetch_column(READ_DISTRIBUTED))
    if functions := fetch_column(READ_FUNCTIONS):
        statements = [f"SELECT create_distributed_function('{name}')" for name in functions]
        yield Step(f"Create {len(functions)} functions on each node", statements)
    if adapted := list_adapted_functions():
        yield Step(f"Adapt the functions of {len(adapted)} triggers", adapted)
    yield from list_key_steps(distributed)
    for table in [name for name in list_copied() if name not in distributed]:
        sql = f"SELECT create_reference_table('{table}')"
        yield Step(f"Copy {table} to each node", [*QUIETLY, sql, TRUNCATE.format(table)])
    wanted = list_distributed()
    first = next((table for table in wanted if table in distributed), "")
    place = f"colocate_with => '{first}'" if first else f"shard_count => {shards}, colocate_with => 'none'"
    for table, column in wanted.items():
        if table not in distributed:
            indexes = fetch_rows(READ_INDEXES, [table])
            late = {f"DROP INDEX {row[0]}": row[1] for row in indexes if not row[2]}  # faster after the rows
            sql = f"SELECT create_distributed_table('{table}', '{column}', {place})"
            statements = [*QUIETLY, *late, sql, TRUNCATE.format(table), *late.values()]
            yield Step(f"Distribute {table} by {column}", statements)
            if not first:
                first, place = table, f"colocate_with => '{table}'"
    if CLAIMS not in distributed:
        queries = chain.from_iterable(list_attributes("shard_claims").values())
        claims = [f"INSERT INTO {CLAIMS} {query}" for query in queries]
        yield Step("Create the table of unique values", [CREATE_CLAIMS.format(shards=shards), *claims])
    if has_table(DROPPED) or not distributed.issuperset(wanted):
        yield Step("Add the foreign keys of the distributed tables again", [ADD_KEYS])


def list_key_steps(distributed: set[str]) -> Iterator[Step]:
    """Yield the changes of the keys of tables that are not distributed yet.

    Citus cannot change a table with an identity column once a foreign key has made it known to the other nodes.
    """
    placed, keys = {*list_shard_keys()}, list_distributed()
    for table, target, name, definition in fetch_rows(READ_FOREIGN_KEYS):
        if (placed - distributed) & {table, target}:
            drop = f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'
            statements = [f"CREATE TABLE IF NOT EXISTS {DROPPED} (name text PRIMARY KEY, statement text)", drop]
            if placed >= {table, target}:
                add = f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
                statements.insert(1, f"INSERT INTO {DROPPED} VALUES ('{name}', $$ {add} $$)")  # noqa: S608
            yield Step(f"Drop the foreign key {name}", statements)
    for table in keys.keys() - distributed:
        for index, definition, is_unique, is_primary, constraint, columns in fetch_rows(READ_INDEXES, [table]):
            if is_unique and keys[table] not in columns:
                yield build_key_step(table, index, definition, columns, constraint, is_primary=is_primary)


def build_key_step(
    table: str, index: str, definition: str, columns: list[str], constraint: str | None, *, is_primary: bool
) -> Step:
    """Return the step that adds the shard key to a primary key, or makes a unique index an ordinary one."""
    drop = f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"' if constraint else f"DROP INDEX {index}"
    if is_primary:
        column, default = list_shard_keys()[table], list_attributes("shard_default").get(table)
        key = ", ".join([column, *columns])
        add = f'ALTER TABLE {table} ADD CONSTRAINT "{constraint}" PRIMARY KEY ({key})'
        plain = f"CREATE INDEX {table}_key ON {table} ({', '.join(columns)})"
        fill = [f"UPDATE {table} SET {column} = {default} WHERE {column} IS NULL"] if default else []  # noqa: S608 - constants
        return Step(f"Add {column} to the primary key of {table}", [*fill, drop, add, plain])
    add = definition.replace("CREATE UNIQUE INDEX", "CREATE INDEX", 1)
    return Step(f"Let {index} be unique no more", [drop, add])


def list_adapted_functions() -> list[str]:
    """Return a statement for each trigger function that still has the form of one PostgreSQL, from a migration."""
    statements = []
    for model, trigger in pgtrigger.registered():
        if isinstance(trigger, PlacedTrigger):
            guard = ON_ONE_NODE if model._meta.db_table in list_copied() else ""  # noqa: SLF001
            name, body = trigger.get_pgid(model), f"BEGIN {guard}{trigger.shard_func} END;"
            if fetch_column(READ_BODY, [name]) != [body]:
                statements.append(CREATE.format(name, body))
    return statements
