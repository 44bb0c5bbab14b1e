"""The audit log: one line for each action on access, on users and on the state of content.

A line has the name of the event, the actor, the subject and a few details, as `fields` of the log record. Names, email
addresses, texts, secrets and tokens are never among them. A line is written after the transaction of the action has
committed. An action that is rolled back writes none.
"""

import logging
from enum import StrEnum
from functools import partial
from typing import Any

from django.db import connection

LOG = logging.getLogger("contentapi.audit")


ACTOR = ("credential", "credential_id", "client_id", "interface")  # what a line shows of the actor, beside the id


class AuditEvent(StrEnum):
    """The events of an app. docs/monitoring.md describes them."""

    def record(self, actor: Any, subject_kind: str = "", subject_id: object = "", **details: object) -> None:
        """Write a line of the audit log when the present transaction commits; without a transaction, now.

        `details` are numbers, ids, states and names of fields. Empty values are left out.
        """
        fields = {
            "event": self.value,
            "actor_id": actor.user_id,
            **{name: getattr(actor, name) for name in ACTOR},
            "subject": subject_kind,
            "subject_id": str(subject_id),
            **details,
        }
        kept = {name: value for name, value in fields.items() if value not in (None, "")}
        write = partial(LOG.info, "%s", self.value, extra={"fields": kept})
        if connection.in_atomic_block:
            connection.on_commit(write, robust=True)
        else:  # `on_commit` would open a connection, which an action without the database does not need
            write()


class Audit(AuditEvent):
    """The events of what no app has."""

    JWT_KEY_ROTATED = "jwt_key.rotated"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_ENABLED = "webhook.enabled"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_SECRET_ROTATED = "webhook.secret_rotated"  # noqa: S105
    WEBHOOK_REPLAYED = "webhook.replayed"
    WEBHOOK_DELETED = "webhook.deleted"
