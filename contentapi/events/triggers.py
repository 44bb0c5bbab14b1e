"""Triggers that announce changes: an app declares them with its models.

    class Meta:
        triggers = [Announcement("created", type="'author.created'", subject_id="NEW.id")]

The trigger inserts a row into the outbox. It runs in the transaction of the change, so that a change that is rolled
back announces nothing.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pghistory
import pgtrigger
import pgtrigger.compiler
from django.db import models, transaction

from contentapi.core.identity import Actor
from contentapi.core.text import convert_to_camel
from contentapi.db.distribution import get_backend
from contentapi.db.placement import Forms, PlacedTrigger, insert_rows
from contentapi.db.statements import execute, fetch_column

SILENT = "contentapi.silent"  # a setting of the session: `silence`
SET_SILENT = f"SET LOCAL {SILENT} = %s"  # this form is repeated on the nodes of the shards
EVERYTHING = "everything"
CONTEXT = "pghistory.context_metadata"
OPERATIONS = {"created": pgtrigger.Insert, "updated": pgtrigger.Update, "deleted": pgtrigger.Delete}
# Who makes a change, as `attribute_changes` states it
ACTOR_OF_CONTEXT = f"(nullif(current_setting('{CONTEXT}', true), '')::jsonb ->> 'changed_by')::bigint"


class AnnouncementSql(pgtrigger.compiler.UpsertTriggerSql):
    """The SQL of a trigger without the call with which `pgtrigger.ignore` works: `silence` is a condition."""

    def get_template(self) -> str:
        return """
            CREATE OR REPLACE FUNCTION {pgid}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {func} END; $$;
            CREATE OR REPLACE TRIGGER {pgid} {when} {operation} ON {table} FOR EACH {level} {condition}
                EXECUTE FUNCTION {execute};
            COMMENT ON TRIGGER {pgid} ON {table} IS '{hash}';
        """


class Announcement(PlacedTrigger):
    """A trigger that adds an event to the outbox, unless `silence` says otherwise. `name` is that of an operation.

    `columns` has the value of each column of the outbox in SQL, over NEW and OLD. `source` is a FROM clause from which
    they can read too. `also` has what else the function does, before it looks at `condition`: each trigger of a table
    costs each statement time, and so does a condition of a trigger, which PostgreSQL prepares again and again.

    On a distributed database, the parent finds the shard of an event: one without a parent gets its subject, until the
    relay. `public_on_shards` is the SQL of `is_public` there, if it differs.
    """

    def __init__(
        self,
        name: str,
        *,
        kind: str,
        condition: str = "",
        source: str = "",
        public_on_shards: str = "",
        also: Sequence[Forms] = (),
        **columns: str,
    ) -> None:
        loud = f"coalesce(current_setting('{SILENT}', true), '') NOT IN ('{EVERYTHING}', '{kind}')"
        values = f"SELECT {', '.join(columns.values())} {source}".rstrip()
        placed = {"parent_id": columns["subject_id"], **columns}
        if public_on_shards:
            placed["is_public"] = public_on_shards
        start = f"IF {condition} AND {loud} THEN" if condition else f"IF {loud} THEN"
        insertion = (
            f"{start} INSERT INTO events_outbox ({', '.join(columns)}) {values}; END IF; RETURN NULL;",
            f"{start} {insert_rows('events_outbox', placed, source)} END IF; RETURN NULL;",
        )
        func, on_shards = (" ".join(parts) for parts in zip(*also, insertion, strict=True))
        super().__init__(
            name=f"announce_{name}", when=pgtrigger.After, operation=OPERATIONS[name], func=func, shard_func=on_shards
        )

    def compile(self, model: models.Model) -> pgtrigger.compiler.Trigger:
        compiled = super().compile(model)
        return pgtrigger.compiler.Trigger(name=compiled.name, sql=AnnouncementSql(**compiled.sql.kwargs))


def build_changes(columns: Iterable[str], **names: str) -> str:
    """Return the array of the fields that change: `publishAt` for the column `publish_at`, or its name in `names`.

    array_remove(ARRAY[CASE WHEN OLD.title IS DISTINCT FROM NEW.title THEN 'title' END], NULL)
    """
    named = {column: convert_to_camel(column) for column in columns} | names
    cases = [f"CASE WHEN OLD.{each} IS DISTINCT FROM NEW.{each} THEN '{name}' END" for each, name in named.items()]
    return f"array_remove(ARRAY[{', '.join(cases)}], NULL)"


def build_member_changes(column: str) -> str:
    """Return the array of the members of a JSON object that change."""
    return (
        f"CASE WHEN OLD.{column} IS DISTINCT FROM NEW.{column} THEN ARRAY("  # noqa: S608 - the name of a column
        f"SELECT key FROM jsonb_each(OLD.{column} || NEW.{column}) "
        f"WHERE OLD.{column} -> key IS DISTINCT FROM NEW.{column} -> key ORDER BY key) ELSE '{{}}' END"
    )


def build_change_condition(columns: Collection[str]) -> str:
    """Return the condition that one of these columns changes."""
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    return f"ROW({old}) IS DISTINCT FROM ROW({new})"


def attribute_changes(actor: Actor, **more: str) -> AbstractContextManager[Any]:
    """State who makes the changes inside of the block, for events and for the history of rows that do not state it."""
    state: Any = get_backend().announce(pghistory.context, state_changes)
    context: AbstractContextManager[Any] = state(changed_by=actor.user_id, changed_with=actor.origin, **more)
    return context


@contextmanager
def state_changes(**values: Any) -> Iterator[None]:
    """State what `pghistory.context` does in front of each statement. Only SET LOCAL is repeated on other nodes."""
    with transaction.atomic(savepoint=False):
        execute(f"SET LOCAL {CONTEXT} = %s", [json.dumps(values)])
        yield
        execute(f"SET LOCAL {CONTEXT} = ''")


@contextmanager
def silence(what: str = EVERYTHING) -> Iterator[None]:
    """Announce nothing in the block, which is a transaction, or nothing of one kind, such as `comment`.

    One kind is what a service changes along with what it announces: the comments of a deleted post. A block in which
    nothing is announced can have others.
    """
    with transaction.atomic(savepoint=False):
        [before] = fetch_column("SELECT coalesce(current_setting(%s, true), '')", [SILENT])
        execute(SET_SILENT, [before if before == EVERYTHING else what])
        yield
        execute(SET_SILENT, [before])


MERGE_STEPS = """
    WITH steps AS (DELETE FROM events_outbox WHERE subject_id = %s AND id {later} RETURNING *),
    first AS (SELECT was FROM steps ORDER BY id LIMIT 1)
    INSERT INTO events_outbox (id, type, subject_id, parent_id, version, was, now, changes, actor_id, is_public,
        owner_ids)
    SELECT id, type, subject_id, parent_id, version, first.was, now,
        ARRAY(SELECT unnest(changes) FROM steps EXCEPT SELECT 'status' WHERE first.was = last.now ORDER BY 1), actor_id,
        (SELECT bool_or(is_public) FROM steps), ARRAY(SELECT DISTINCT unnest(owner_ids) FROM steps ORDER BY 1)
    FROM steps AS last, first ORDER BY id DESC LIMIT 1
"""
READ_LAST = "SELECT coalesce(pg_sequence_last_value('events_outbox_id_seq'), 0)"
MERGE = MERGE_STEPS.format(later="> %s")
# Each node of a cluster takes ids of its own: those of one transaction are in order, and have no order with others.
READ_EARLIER = "SELECT coalesce(array_agg(id), '{}') FROM events_outbox WHERE subject_id = %(subject)s"
MERGE_OTHERS = MERGE_STEPS.format(later="<> ALL(%s)")


@contextmanager
def merge_events(subject_id: int) -> Iterator[None]:
    """Announce all changes of an object in the block as one event. The transaction has locked the object."""
    read, merge = get_backend().announce((READ_LAST, MERGE), (READ_EARLIER, MERGE_OTHERS))
    [before] = fetch_column(read, {"subject": subject_id})
    yield
    execute(merge, [subject_id, before])
