"""Idempotency-Key: execute a repeated write once, and replay its first response for 24 hours.

The response is stored in the transaction of the effect, so neither exists without the other. That transaction holds an
advisory lock, so that a repeated request gets 409 while the first one runs. The lock ends with the transaction, also
when the server dies. Server errors and lost races are not stored, because a retry can succeed. Rate limits are checked
before. A replay locks the row of the response: this write waits for the synchronous standby, if there is one, and thus
confirms the first request, whose own wait may have been interrupted.

Responses are compressed, and encrypted: one may contain a secret that is shown once, such as the token of a preview
link. Those of a person have a limit of bytes, above which a write with a key is refused.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from math import ceil
from typing import Any
from zlib import compress, decompress

import msgspec
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from contentapi.conf.timeouts import IDEMPOTENCY_RETENTION
from contentapi.core.encryption import decrypt, encrypt
from contentapi.core.errors import ApiError, Conflict, Internal, Invalid, Malformed, RateLimited
from contentapi.core.identity import Actor
from contentapi.db.engine.transactions import run_transaction
from contentapi.db.statements import execute, fetch_column
from contentapi.http.response import Response
from contentapi.models import IdempotencyRecord

HEADER = "HTTP_IDEMPOTENCY_KEY"
KEY = re.compile(r"[\x21-\x7e]{1,255}")
PURPOSE = "compressed responses"  # of the encryption; earlier releases used another one
MAX_STORED = 32_000_000  # bytes of the stored responses of a person
LOCK_PERSON = "SELECT pg_advisory_xact_lock(hashtextextended('responses of ' || %s, 0))"
PURGE_BATCH = 500  # expired records that one statement deletes
Action = Callable[[], Response]
Render = Callable[[Exception], Response | None]


def replay_or_execute(actor: Actor, key: str, request: str, action: Action, render: Render) -> Response:
    """Call `action` and store its response, or return the stored response of the first request with this key.

    `request` is a hash of the request, from `hash_request`. If `action` raises an error, its effect is rolled back.
    `render` returns the response to this error, which is stored too, or None: then nothing is stored. `action` may be
    called again (`run_transaction`).

    Raises what `action` raises, `Malformed` for an invalid key, `Invalid` for a key of another request, `Conflict`
    while the first request runs, and `RateLimited` if the person stores too many bytes: nothing is written then.
    """
    if not KEY.fullmatch(key):
        raise Malformed("Idempotency-Key must be 1 to 255 visible ASCII characters.")
    if actor.is_anonymous:  # every write refuses them: nothing is stored
        return run_transaction(action)
    owner = actor.credential_id or f"user:{actor.user_id}"  # a JWT counts by user and scopes
    key_of_owner = sha256(msgspec.json.encode([owner, sorted(actor.scopes), key])).hexdigest()
    return run_transaction(partial(execute_once, actor.user_id, key_of_owner, request, action, render))


def execute_once(user_id: int | None, key: str, request: str, action: Action, render: Render) -> Response:
    """Execute a request with the hash of its key, or return the stored response. Call this in a transaction."""
    lock = int.from_bytes(bytes.fromhex(key)[:8], signed=True)
    if fetch_column("SELECT pg_try_advisory_xact_lock(%s)", [lock]) != [True]:  # another transaction has it
        message = "The first request with this Idempotency-Key is still running. Try again shortly."
        raise Conflict(message, headers={"Retry-After": "1"})
    now = timezone.now()
    stored = IdempotencyRecord.objects.filter(key=key, created_at__gt=now - IDEMPOTENCY_RETENTION)
    record = stored.select_for_update().first()
    if record is not None:
        return replay_response(record, request)
    require_room(user_id, 0)
    response = execute_in_savepoint(action, render)
    store_response(response, user_id, key, request, now)
    return response


def require_room(user_id: int | None, size: int) -> None:
    """Raise `RateLimited` if a response does not fit beside those that are stored for a person."""
    stored = IdempotencyRecord.objects.filter(user_id=user_id)
    if (stored.aggregate(size=Sum("size"))["size"] or 0) + size <= MAX_STORED:
        return
    oldest = stored.order_by("created_at").values_list("created_at", flat=True).first() or timezone.now()
    wait = max(1, ceil((oldest + IDEMPOTENCY_RETENTION - timezone.now()).total_seconds()))
    message = (
        f"The responses that are stored for your Idempotency-Keys may have at most {MAX_STORED:,} bytes, for 24 hours."
        " Send the request without a key, or with a selection of fewer fields."
    )
    raise RateLimited(message, headers={"Retry-After": str(wait)}, limit="bytes of stored responses")


def is_storable(error: ApiError) -> bool:
    """Return whether the response to an error may be stored: whether it is also the response to a later attempt."""
    return error.status < Internal.status and not isinstance(error, RateLimited)


def hash_request(target: Sequence[Any], content: bytes = b"") -> str:
    """Return a hash of what a request consists of. The order of the members of an object has no effect."""
    return sha256(msgspec.json.encode(target, order="sorted") + content).hexdigest()


def replay_response(record: IdempotencyRecord, request: str) -> Response:
    if record.request != request:
        message = "This key was sent with another request. Send a new key with each new request."
        raise Invalid({"Idempotency-Key": [message]})
    body = decrypt(PURPOSE, bytes(record.body), record.key)
    if body is None:
        raise Conflict("The response for this key was stored by another release or with another SECRET_KEY.")
    return Response(record.status, decompress(body), {**record.headers, "Idempotent-Replayed": "true"})


def execute_in_savepoint(action: Action, render: Render) -> Response:
    """Return the response of `action`, also of an error, which is rolled back. Raises errors that are not stored."""
    try:
        with transaction.atomic():
            return action()
    except Exception as error:
        response = render(error)
        if response is None:
            raise
        return response


def store_response(response: Response, user_id: int | None, key: str, request: str, now: datetime) -> None:
    """Store a response, in turn with others of the person until the transaction ends. Raises `RateLimited`."""
    body = encrypt(PURPOSE, compress(response.body), key)
    stored = {"status": response.status, "headers": dict(response.headers), "body": body, "user_id": user_id}
    size = len(body) + len(msgspec.json.encode(stored["headers"]))
    execute(LOCK_PERSON, [str(user_id)])
    require_room(user_id, size)
    record = IdempotencyRecord(key=key, request=request, created_at=now, size=size, **stored)
    fields = ["request", "status", "headers", "body", "created_at", "user_id", "size"]
    # Replaces an expired record with the same key.
    IdempotencyRecord.objects.bulk_create([record], update_conflicts=True, unique_fields=["key"], update_fields=fields)


def purge_expired_records() -> int:
    """Delete some expired records. Returns their number."""
    end = timezone.now() - IDEMPOTENCY_RETENTION
    expired = IdempotencyRecord.objects.filter(created_at__lte=end).order_by("created_at")
    locked = expired.select_for_update(skip_locked=True).values("key")[:PURGE_BATCH]
    return IdempotencyRecord.objects.filter(key__in=locked).delete()[0]
