"""Tickets: what a browser's `EventSource`, which cannot send a header, puts into the address of a stream.

A ticket replaces the credential with which it was requested, for `TICKET_LIFETIME` and for one stream. The table has
the SHA-256 of the ticket, and the credential in a form that only a server with SECRET_KEY can read: a stream checks it
again and again, so that it ends with the credential.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec
from django.utils import timezone

from contentapi.conf.timeouts import TICKET_LIFETIME
from contentapi.core import policy
from contentapi.core.encryption import decrypt, encrypt
from contentapi.core.errors import Unauthenticated
from contentapi.core.identity import Actor
from contentapi.db.statements import fetch_rows
from contentapi.events.models import Ticket

PURPOSE = "tickets of streams"
# One statement, so that a ticket that two requests present at the same time opens one stream
CONSUME = "DELETE FROM events_ticket WHERE digest = %s RETURNING credential, expires_at"


def create_ticket(actor: Actor, credential: Mapping[str, str]) -> tuple[str, datetime]:
    """Return a ticket and its end for the credential of an actor, a header with its value. Raises `Unauthenticated`."""
    policy.require_credential(actor, "get a ticket")
    now = timezone.now()
    Ticket.objects.filter(expires_at__lt=now).delete()
    text, expires_at = secrets.token_urlsafe(32), now + timedelta(seconds=TICKET_LIFETIME)
    digest = hash_ticket(text)
    encrypted = encrypt(PURPOSE, msgspec.json.encode(credential), digest)
    Ticket.objects.create(digest=digest, credential=encrypted, expires_at=expires_at)
    return text, expires_at


def consume_ticket(text: str) -> Mapping[str, str]:
    """Return the credential of a ticket, which is used up then. Raises `Unauthenticated`."""
    digest = hash_ticket(text)
    rows = fetch_rows(CONSUME, [digest])
    content = next((decrypt(PURPOSE, bytes(found), digest) for found, until in rows if until > timezone.now()), None)
    if content is None:
        raise Unauthenticated("The ticket is unknown, used or expired.")
    return msgspec.json.decode(content, type=dict[str, str])


def hash_ticket(text: str) -> str:
    return sha256(text.encode()).hexdigest()
