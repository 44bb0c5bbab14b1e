"""How many streams may be open: for a credential, for the address of anonymous callers, and in this process."""

from collections import Counter
from threading import Lock

from contentapi.core.errors import RateLimited, Unavailable

FOR_CREDENTIAL = 20
FOR_ADDRESS = 10  # without a credential
FOR_PROCESS = 10_000
RETRY_AFTER = "5"  # seconds


class StreamLimits:
    """The open streams by who opened them. Thread-safe."""

    def __init__(self) -> None:
        self.open: Counter[str] = Counter()
        self.total = 0
        self.lock = Lock()

    def reserve(self, payer: str, *, is_anonymous: bool) -> None:
        """Count a stream. Raises `RateLimited`, and `Unavailable` if the process has enough of all."""
        most = FOR_ADDRESS if is_anonymous else FOR_CREDENTIAL
        with self.lock:
            if self.open[payer] >= most:
                whose = "an address without a credential" if is_anonymous else "a credential"
                message = f"At most {most} streams are allowed for {whose} at a time."
                raise RateLimited(message, headers={"Retry-After": RETRY_AFTER}, limit="streams")
            if self.total >= FOR_PROCESS:
                raise Unavailable(limit="streams of the process")
            self.open[payer] += 1
            self.total += 1

    def release(self, payer: str) -> None:
        with self.lock:
            self.total -= 1
            self.open[payer] -= 1
            if self.open[payer] <= 0:
                del self.open[payer]


LIMITS = StreamLimits()
