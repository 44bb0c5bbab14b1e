"""How many streams, different plans and documents may be open: for a person, an address, and this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from threading import Lock
from typing import TYPE_CHECKING

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.rate_limits.places import Places

if TYPE_CHECKING:
    from contentapi.streams.plans import Plan

FOR_PERSON = 20  # with all credentials together
FOR_ADDRESS = 10  # without a credential; of the maker of a preview link, if a token alone opens one more
FOR_PROCESS = 10_000
PLANS = 2000  # of this process without a subject: for each of them, it reads every batch of events
DOCUMENT_BYTES = 2 * 1024 * 1024  # of text, of all plans; a parsed document takes about a hundred times as much
RETRY_AFTER = "5"  # seconds


class PlanLimits:
    """The plans of open streams, and the documents that these keep in memory. Thread-safe.

    Anonymous callers are refused when half of the room is in use, so that callers with a credential have the rest.
    """

    def __init__(self) -> None:
        self.streams: Counter[Hashable] = Counter()  # by the key of their plan
        self.wide: set[Hashable] = set()  # the keys of plans without a subject
        self.documents: Counter[int] = Counter()  # the streams of each, by the identity of its operation
        self.document_bytes = 0
        self.lock = Lock()

    def reserve(self, plan: Plan) -> None:
        """Count the plan of a stream. Raises `Unavailable` if it is one more than the process has room for."""
        shares = 2 if plan.actor.is_anonymous else 1
        with self.lock:
            if plan.key not in self.streams:
                if plan.subject is None and len(self.wide) >= PLANS // shares:
                    raise Unavailable(limit="different streams of the process")
                size = self.measure_new_document(plan)
                if size and self.document_bytes + size > DOCUMENT_BYTES // shares:
                    raise Unavailable(limit="documents of streams")
            if plan.subject is None:
                self.wide.add(plan.key)
            self.streams[plan.key] += 1
            self.add_document(plan)

    def release(self, plan: Plan) -> None:
        with self.lock:
            self.streams[plan.key] -= 1
            if self.streams[plan.key] <= 0:
                del self.streams[plan.key]
                self.wide.discard(plan.key)
            self.remove_document(plan)

    def exchange(self, plan: Plan, equal: Plan) -> None:
        """Take note that a stream has an equal plan now, which has been counted. Its document may be another object."""
        with self.lock:
            self.add_document(equal)
            self.remove_document(plan)

    def measure_new_document(self, plan: Plan) -> int:
        """Return the bytes of the plan's document, or 0 if there is none or another plan has it too."""
        operation = plan.operation
        return 0 if operation is None or id(operation) in self.documents else operation.document_size

    def add_document(self, plan: Plan) -> None:
        if plan.operation is not None:
            self.document_bytes += self.measure_new_document(plan)
            self.documents[id(plan.operation)] += 1

    def remove_document(self, plan: Plan) -> None:
        operation = plan.operation
        if operation is not None:
            self.documents[id(operation)] -= 1
            if self.documents[id(operation)] <= 0:
                del self.documents[id(operation)]
                self.document_bytes -= operation.document_size


STREAMS = Places(FOR_PROCESS)
PLAN_LIMITS = PlanLimits()


def reserve_stream(payer: str, *, is_anonymous: bool) -> None:
    """Count a stream. Raises `RateLimited`, and `Unavailable` if the process has enough of all."""
    most = FOR_ADDRESS if is_anonymous else FOR_PERSON
    if STREAMS.enter(payer, most):
        return
    if STREAMS.taken[payer] < most:
        raise Unavailable(limit="streams of the process")
    whose = "without a credential" if is_anonymous else "for a person"
    message = f"At most {most} streams are allowed {whose} at a time."
    raise RateLimited(message, headers={"Retry-After": RETRY_AFTER}, limit="streams")
