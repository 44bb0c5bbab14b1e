"""Where the table of a model is on a distributed database. Without a `shard_key`, it is on the coordinator alone.

    class Comment(Model):
        shard_key = "post_id"

The key is the column that has the id of an object: everything of the object is in one shard, and foreign keys between
such tables compare these columns. With an empty key, each node has a copy of the table: the statements of objects join
it, and a write to it needs all nodes. Other attributes are `shard_default`, the SQL of a key that is null,
and `shard_claims`, queries of unique values. Triggers whose functions differ are `PlacedTrigger`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pgtrigger
from django.apps import apps

Forms = Sequence[str]  # statements of PL/pgSQL: on one PostgreSQL, and on a distributed database


class PlacedTrigger(pgtrigger.Trigger):
    """A trigger with a second form of its function: `shard_func` is that of a distributed database."""

    def __init__(self, *, shard_func: str, **options: Any) -> None:
        super().__init__(**options)
        self.shard_func = shard_func


def insert_rows(table: str, values: Mapping[str, str], source: str = "") -> str:
    """Return statements of PL/pgSQL that insert selected rows one by one. `values` has the SQL of each column.

    INSERT … SELECT would be planned without the values of NEW and OLD, so that it asks all shards, on other nodes too.
    """
    columns, added = ", ".join(values), ", ".join(f"added.{column}" for column in values)
    rows = f"SELECT * FROM (SELECT {', '.join(values.values())} {source}) AS added({columns})"  # noqa: S608 - constants
    insertion = f"INSERT INTO {table} ({columns}) VALUES ({added})"  # noqa: S608 - constants
    return f"DECLARE added record; BEGIN FOR added IN {rows} LOOP {insertion}; END LOOP; END;"


@cache
def list_attributes(name: str) -> dict[str, Any]:
    """Return an attribute of models, such as `shard_key`, by the names of their tables."""
    return {model._meta.db_table: vars(model)[name] for model in apps.get_models() if name in vars(model)}  # noqa: SLF001


@cache
def list_shard_keys() -> dict[str, str]:
    """Return the keys of the tables that are not on the coordinator alone."""
    return {**list_attributes("shard_key"), "oauth2_provider_application": ""}


def list_distributed() -> dict[str, str]:
    return {table: key for table, key in list_shard_keys().items() if key}


def list_copied() -> list[str]:
    return [table for table, key in list_shard_keys().items() if not key]


def get_shard_key(options: Any) -> str:
    """Return the column that finds the shard of a row of a model with these options; that of its id if it has none."""
    return list_shard_keys().get(options.db_table) or str(options.pk.column)
