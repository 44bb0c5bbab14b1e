"""The tables of events. `contentapi.events.triggers` fills the outbox, `contentapi.events.relay` the log.

Tickets are of streams. The models of webhooks are in `contentapi.events.webhooks.models`.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from contentapi.events.webhooks import models as webhooks  # noqa: F401 - Django finds them here


class EventColumns(models.Model):
    """What the outbox and the log state of an event."""

    type = models.TextField()
    timestamp = models.DateTimeField()
    subject_id = models.BigIntegerField()
    parent_id = models.BigIntegerField(null=True, help_text="The id of the post of a comment.")
    version = models.BigIntegerField(null=True)
    was = models.TextField(null=True)  # noqa: DJ001 - the state; null: it did not exist
    now = models.TextField(null=True)  # noqa: DJ001 - the state; null: it does not exist
    changes = ArrayField(models.TextField(), default=list, db_default=[])
    actor_id = models.BigIntegerField(null=True)
    is_public = models.BooleanField(default=False, db_default=False)  # all could see it before or after the change
    # Who else could: the authors of the post, or the user
    owner_ids = ArrayField(models.BigIntegerField(), default=list, db_default=[])

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.type} {self.subject_id}"


class OutboxEvent(EventColumns):
    """An event that has no position yet. It is deleted when it gets one."""

    shard_key, shard_default = "parent_id", "subject_id"
    id = models.BigAutoField(primary_key=True)
    timestamp = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_outbox"


class Event(EventColumns):
    """An event of the log. The table has a partition for each day on which the relay has moved events.

    The primary key of the table includes `day`. Positions alone are unique too: the relay takes them from `Log`.
    """

    position = models.BigIntegerField(primary_key=True)
    day = models.DateField()

    class Meta:
        db_table = "events_event"
        indexes = [models.Index(fields=["subject_id", "position"], name="events_event_subject")]


class Log(models.Model):
    """The one row that states how far the log is."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    # Another one when positions may be given again: the database is another one, after a restore or a failover.
    epoch = models.TextField()
    position = models.BigIntegerField(default=0, db_default=0)
    expired = models.BigIntegerField(default=0, db_default=0)  # the last position that is not kept any more
    server = models.TextField()  # the database that the epoch belongs to
    moved = models.BigIntegerField(default=0, db_default=0)  # ids of the outbox up to this one are in the log
    next_moved = models.BigIntegerField(default=0, db_default=0)  # this and the next one are of the relay
    next_xid = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "events_log"

    def __str__(self) -> str:
        return f"{self.epoch}-{self.position}"


class Ticket(models.Model):
    """A secret that replaces a credential, to open one stream. See `contentapi.events.tickets`."""

    digest = models.CharField(primary_key=True, max_length=64, help_text="SHA-256 of the ticket.")
    credential = models.BinaryField(help_text="The credential that it replaces, encrypted.")
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "events_ticket"

    def __str__(self) -> str:
        return self.digest
