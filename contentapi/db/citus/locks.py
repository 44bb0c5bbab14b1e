"""Locks of rows of several shards. Citus locks the rows of one shard in a statement."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

from contentapi.db.placement import get_shard_key

Row = TypeVar("Row")


def lock_rows(
    rows: QuerySet[Any, Row], limit: int | None = None, *, skip_locked: bool = False, of: Sequence[str] = ()
) -> QuerySet[Any, Row]:
    """Return the rows, or the first ones: found, locked one by one, and read under their locks."""
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
