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
STREAMS = Places(FOR_PROCESS)
DOCUMENTS: Counter[Operation | None] = Counter()  # that streams keep in memory, with the numbers of their streams
GUARD = Lock()


def reserve_stream(payer: Hashable, operation: Operation | None, *, is_anonymous: bool) -> None:
    """Count a stream and its document. Raises `RateLimited`, and `Unavailable` if the process has enough of all.

    Anonymous callers have half of the room for documents, so that callers with a credential have the rest.
    """
    most = FOR_ADDRESS if is_anonymous else FOR_PERSON
    if not STREAMS.enter(payer, most):
        if STREAMS.taken[payer] < most:
            raise Unavailable(limit="streams of the process")
        whose = "without a credential" if is_anonymous else "for a person"
        message = f"At most {most} streams are allowed {whose} at a time."
        raise RateLimited(message, headers={"Retry-After": "5"}, limit="streams")
    with GUARD:
        size = sum(each.document_size for each in {operation, *DOCUMENTS} if each is not None)
        if operation in {None, *DOCUMENTS} or size <= (DOCUMENT_BYTES // 2 if is_anonymous else DOCUMENT_BYTES):
            DOCUMENTS[operation] += 1
            return
    STREAMS.leave(payer)
    raise Unavailable(limit="documents of streams")


def release_stream(payer: Hashable, operation: Operation | None) -> None:
    STREAMS.leave(payer)
    with GUARD:
        DOCUMENTS[operation] -= 1
        if not DOCUMENTS[operation]:
            del DOCUMENTS[operation]
