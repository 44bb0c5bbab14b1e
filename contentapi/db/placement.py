"""Where the table of a model is on a distributed database. Without a `shard_key`, it is on the coordinator alone.

    class Comment(Model):
        shard_key = "post_id"

The key is the column that has the id of an object: everything of the object is in one shard, and foreign keys between
such tables compare these columns. With an empty key, each node has a copy of the table: the statements of objects join
it, and a write to it needs all nodes. Other attributes are `shard_default`, the SQL of a key that is null,
`shard_claims`, queries of unique values, and `shard_triggers`, texts of triggers and their replacements.
"""

from functools import cache
from typing import Any

from django.apps import apps


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
