"""Idempotency-Key: a POST that is sent again is done once, and its first answer is given again for 24 hours.

The answer is kept in the transaction of the effect: there is never the one without the other. While that transaction
runs, a lock that ends with it tells a second request that the first is not over; a server that dies releases it too.
What may turn out otherwise next time is not kept: faults of our own and a lost race; rate limits are met before this.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from django.db import connection, transaction
from django.utils import timezone

from contentapi.core.errors import ApiError, Conflict, Internal, Invalid, Malformed
from contentapi.core.identity import Actor
from contentapi.http.error_response import error_response
from contentapi.http.response import Answer
from contentapi.models import IdempotencyRecord

KEY = re.compile(r"[\x21-\x7e]{1,255}")
RETENTION = timedelta(hours=24)
PURGE_BATCH = 10  # outlived answers that each new one takes away


def replay_or_execute(actor: Actor, environ: Mapping[str, Any], content: bytes, act: Callable[[], Answer]) -> Answer:
    """Act, and keep the answer; or answer as the first time. Raises what `act` raises, and of its own:

    `Malformed` for a key that is none, `Invalid` where it was sent with another request, `Conflict` while that runs.
    Whoever is not known is refused by every POST, so nothing is kept of them.
    """
    key = environ["HTTP_IDEMPOTENCY_KEY"]
    if not KEY.fullmatch(key):
        raise Malformed("Idempotency-Key must be 1 to 255 visible ASCII characters.")
    if actor.is_anonymous:
        return act()
    key, request = hash_key(actor, key), hash_request(environ, content)
    with transaction.atomic():
        if not take_lock(key):
            message = "The first request with this Idempotency-Key is still running. Try again shortly."
            raise Conflict(message, headers={"Retry-After": "1"})
        now = timezone.now()
        kept = IdempotencyRecord.objects.filter(key=key, created_at__gt=now - RETENTION).first()
        if kept is not None:
            return replay(kept, request)
        answer = execute(act, environ.get("HTTP_ACCEPT", ""))
        store(answer, key, request, now)
        return answer


def hash_key(actor: Actor, key: str) -> str:
    """Return what a key is known by: it counts for one credential, a token's being its user and its scopes."""
    owner = actor.credential_id or f"user:{actor.user_id}"
    return sha256(msgspec.json.encode([owner, sorted(actor.scopes), key])).hexdigest()


def hash_request(environ: Mapping[str, Any], content: bytes) -> str:
    target = [environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", "")]
    return sha256(msgspec.json.encode(target) + content).hexdigest()


def take_lock(key: str) -> bool:
    """Take the lock of a key until the transaction ends. Returns False where another transaction has it."""
    with connection.cursor() as cursor:
        number = int.from_bytes(bytes.fromhex(key)[:8], signed=True)
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])


def replay(kept: IdempotencyRecord, request: str) -> Answer:
    if kept.request != request:
        message = "This key was sent with another request. Send a new key with each new request."
        raise Invalid({"Idempotency-Key": [message]})
    return Answer(kept.status, bytes(kept.body), kept.headers).with_headers(Idempotent_Replayed="true")


def execute(act: Callable[[], Answer], accept: str) -> Answer:
    """Return the answer of an act, also a refusal, which leaves no effect behind. Raises what is not to be kept."""
    try:
        with transaction.atomic():
            return act()
    except ApiError as error:
        if error.status >= Internal.status:
            raise
        return error_response(error, accept)


def store(answer: Answer, key: str, request: str, now: datetime) -> None:
    kept = IdempotencyRecord(
        key=key,
        request=request,
        status=answer.status,
        headers=dict(answer.headers),
        body=answer.body,
        created_at=now,
    )
    fields = ["request", "status", "headers", "body", "created_at"]
    # In place of an outlived one, where there is one.
    IdempotencyRecord.objects.bulk_create([kept], update_conflicts=True, unique_fields=["key"], update_fields=fields)
    outlived = IdempotencyRecord.objects.filter(created_at__lte=now - RETENTION).order_by("created_at")
    locked = outlived.select_for_update(skip_locked=True).values("key")[:PURGE_BATCH]
    IdempotencyRecord.objects.filter(key__in=locked).delete()
