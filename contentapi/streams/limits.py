"""How many streams may be open, for a person, an address and this process, and how large their documents are."""

from collections import Counter
from collections.abc import Hashable
from threading import Lock

from contentapi.core.errors import RateLimited, Unavailable
from contentapi.graphql.execution.operations import Operation
from contentapi.rate_limits.places import Places

FOR_PERSON = 20  # with all credentials together
FOR_ADDRESS = 10  # without a credential; of the maker of a preview link, if a token alone opens one more
FOR_PROCESS = 2000
DOCUMENT_BYTES = 2 * 1024 * 1024  # of text; a parsed document takes about a hundred times as much
RETRY_AFTER = "5"  # seconds
STREAMS = Places(FOR_PROCESS)


class Documents:
    """The documents that open streams keep in memory, each with the number of its streams. Thread-safe.

    Anonymous callers are refused when half of the room is in use, so that callers with a credential have the rest.
    """

    def __init__(self) -> None:
        self.streams: Counter[Operation] = Counter()
        self.lock = Lock()

    def reserve(self, operation: Operation, *, is_anonymous: bool) -> None:
        """Count the document of a stream. Raises `Unavailable` if the process has no room for it."""
        with self.lock:
            kept = {operation, *self.streams}
            room = DOCUMENT_BYTES // 2 if is_anonymous else DOCUMENT_BYTES
            if operation not in self.streams and sum(each.document_size for each in kept) > room:
                raise Unavailable(limit="documents of streams")
            self.streams[operation] += 1

    def release(self, operation: Operation) -> None:
        with self.lock:
            self.streams[operation] -= 1
            if not self.streams[operation]:
                del self.streams[operation]


DOCUMENTS = Documents()


def reserve_stream(payer: Hashable, *, is_anonymous: bool) -> None:
    """Count a stream. Raises `RateLimited`, and `Unavailable` if the process has enough of all."""
    most = FOR_ADDRESS if is_anonymous else FOR_PERSON
    if STREAMS.enter(payer, most):
        return
    if STREAMS.taken[payer] < most:
        raise Unavailable(limit="streams of the process")
    whose = "without a credential" if is_anonymous else "for a person"
    message = f"At most {most} streams are allowed {whose} at a time."
    raise RateLimited(message, headers={"Retry-After": RETRY_AFTER}, limit="streams")
