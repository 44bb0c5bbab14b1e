"""The audit log: one line for each action on access, on users and on the state of content.

A line has the name of the event, the actor, the subject and a few details, as `fields` of the log record. Names, email
addresses, texts, secrets and tokens are never among them. A line is written after the transaction of the action has
committed. An action that is rolled back writes none.
"""

import logging
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from django.db import connection

LOG = logging.getLogger("contentapi.audit")


class Event(StrEnum):
    """The events of the audit log. docs/monitoring.md describes them."""

    LOGIN_SUCCEEDED = "login.succeeded"
    LOGIN_FAILED = "login.failed"
    LOGOUT = "logout"
    USER_CREATED = "user.created"
    USER_CHANGED = "user.changed"
    USER_ROLE_CHANGED = "user.role_changed"
    USER_LOCKED = "user.locked"
    USER_UNLOCKED = "user.unlocked"
    USER_PASSWORD_CHANGED = "user.password_changed"  # noqa: S105 - a name
    USER_LINK_REQUESTED = "user.link_requested"
    USER_INVITED = "user.invited"
    USER_DELETED = "user.deleted"
    API_KEY_CREATED = "api_key.created"
    API_KEY_REVOKED = "api_key.revoked"
    TOKEN_ISSUED = "token.issued"  # noqa: S105
    JWT_KEY_ROTATED = "jwt_key.rotated"
    OAUTH_CLIENT_CREATED = "oauth_client.created"
    OAUTH_CLIENT_CHANGED = "oauth_client.changed"
    OAUTH_CLIENT_SECRET_RENEWED = "oauth_client.secret_renewed"  # noqa: S105
    OAUTH_CLIENT_REVOKED = "oauth_client.revoked"
    OAUTH_CONSENT_GRANTED = "oauth.consent_granted"
    OAUTH_CONSENT_REVOKED = "oauth.consent_revoked"
    OAUTH_TOKEN_REUSED = "oauth.token_reused"  # noqa: S105
    POST_PUBLISHED = "post.published"
    POST_SCHEDULED = "post.scheduled"
    POST_UNPUBLISHED = "post.unpublished"
    POST_ARCHIVED = "post.archived"
    POST_UNARCHIVED = "post.unarchived"
    POST_DELETED = "post.deleted"
    POST_RESTORED = "post.restored"
    POST_HISTORY_PURGED = "post.history_purged"
    POST_COPY_PUBLISHED = "post.copy_published"
    POST_COPY_REFUSED = "post.copy_refused"
    POST_COPY_DISCARDED = "post.copy_discarded"
    PREVIEW_LINK_CREATED = "preview_link.created"
    PREVIEW_LINK_REVOKED = "preview_link.revoked"
    COMMENT_HIDDEN = "comment.hidden"
    COMMENT_SHOWN = "comment.shown"
    COMMENT_DELETED = "comment.deleted"
    COMMENT_RESTORED = "comment.restored"
    COMMENT_PURGED = "comment.purged"
    AUTHOR_DELETED = "author.deleted"
    IMAGE_UPLOADED = "image.uploaded"
    IMAGE_DELETED = "image.deleted"
    IMAGE_RESTORED = "image.restored"
    IMAGE_PURGED = "image.purged"
    IMPORT_UPLOADED = "import.uploaded"
    IMPORT_STARTED = "import.started"
    IMPORT_FINISHED = "import.finished"
    IMPORT_FAILED = "import.failed"
    IMPORT_CANCELLED = "import.cancelled"
    IMPORT_UNDONE = "import.undone"
    IMPORT_PURGED = "import.purged"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_CHANGED = "webhook.changed"
    WEBHOOK_ENABLED = "webhook.enabled"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_SECRET_ROTATED = "webhook.secret_rotated"  # noqa: S105
    WEBHOOK_REPLAYED = "webhook.replayed"
    WEBHOOK_DELETED = "webhook.deleted"
    ORDER_PAID = "order.paid"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_SHIPPED = "order.shipped"
    ORDER_DELIVERED = "order.delivered"


class AuditedActor(Protocol):
    """The attributes of `contentapi.core.identity.Actor` that a line shows."""

    @property
    def user_id(self) -> int | None: ...
    @property
    def credential(self) -> str: ...
    @property
    def credential_id(self) -> str: ...
    @property
    def client_id(self) -> str: ...
    @property
    def interface(self) -> str: ...


def record_event(
    event: Event, actor: AuditedActor, subject_kind: str = "", subject_id: object = "", **details: object
) -> None:
    """Write a line of the audit log when the present transaction commits; without a transaction, now.

    `details` are numbers, ids, states and names of fields. Empty values are left out.
    """
    fields = {
        "actor_id": actor.user_id,
        "credential": actor.credential,
        "credential_id": actor.credential_id,
        "client_id": actor.client_id,
        "interface": actor.interface,
        "subject": subject_kind,
        "subject_id": str(subject_id),
        **details,
    }
    write = partial(write_line, event, {name: value for name, value in fields.items() if value not in (None, "")})
    if connection.in_atomic_block:
        connection.on_commit(write, robust=True)
    else:  # `on_commit` would open a connection, which an action without the database does not need
        write()


def write_line(event: Event, fields: dict[str, Any]) -> None:
    LOG.info("%s", event.value, extra={"fields": {"event": event.value, **fields}})
