"""Items of a job, such as posts to render: one that fails is counted, and stops no others."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from contentapi.db.outages import is_outage
from contentapi.monitoring.figures import FIGURES

LOG = logging.getLogger("contentapi.worker")
Item = TypeVar("Item")
Result = TypeVar("Result")


def try_item(job: str, name: object, work: Callable[..., Result], *values: object) -> Result | None:
    """Return what `work` returns for an item; None after an error, which is counted and logged.

    Raises an outage of the database, which is no error of the item. An error in a transaction needs a savepoint.
    """
    try:
        return work(*values)
    except Exception as error:  # noqa: BLE001 - it is counted and logged
        raise_outage(error)
        FIGURES.count("contentapi_item_failures_total", job)
        reason = next(iter(str(error).splitlines()), "")  # the other lines of PostgreSQL have the texts of the row
        LOG.warning("The job %s failed for %s, and continues: %s: %s", job, name, type(error).__name__, reason)
        return None


def try_each(
    job: str, items: Sequence[Item], work: Callable[[Sequence[Item]], bool], name: Callable[[Item], object] = str
) -> list[Item]:
    """Do the work for all items together; after an error, for each alone. Return those that failed alone.

    `work` returns true.
    """
    try:
        work(items)
    except Exception as error:  # noqa: BLE001 - the same follows for each item
        raise_outage(error)
        return [item for item in items if not try_item(job, name(item), work, [item])]
    return []


def raise_outage(error: Exception) -> None:
    if is_outage(error):
        raise error
