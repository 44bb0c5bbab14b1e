"""Claims of rows for work that is longer than a transaction. Shorter work locks its row by `SKIP LOCKED`.

The row has the columns `claimed_until` and `attempts`. A worker that lives moves the end of its claim, and a claim that
has ended is free: so another worker continues the work of one that was killed, also behind a pooler of connections.
"""

from typing import Any, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.db.models.functions import Now

from contentapi.conf.timeouts import CLAIM

IS_FREE = Q(claimed_until=None) | Q(claimed_until__lte=Now())
CLAIM_END = Now() + CLAIM
Row = TypeVar("Row", bound=Model)


def claim(rows: QuerySet[Row], **changes: Any) -> Row | None:
    """Claim one row, unless another worker has it, count the attempt and make changes. Call this in a transaction."""
    row = rows.filter(IS_FREE).select_for_update(skip_locked=True).first()
    if row is not None:
        changes["attempts"] = F("attempts") + 1
        rows.filter(pk=row.pk).update(claimed_until=CLAIM_END, **changes)
        row.refresh_from_db(fields=list(changes))
    return row
