"""The jobs of the background process. An app declares those of its module `background`.

Several workers may run a job at the same time, on several hosts. So a job locks what it changes, and checks it again
under the lock: no work is done twice.
"""

from collections.abc import Callable
from threading import Event
from typing import NamedTuple


class Job(NamedTuple):
    """Work that is done in rounds."""

    name: str
    # Does the work of a round. If it can take seconds, it returns early when the event is set, in a state from which
    # any worker can continue. It raises the errors that it does not expect: the next round follows.
    run: Callable[[Event], object]
    interval: float | Callable[[], float]  # between two rounds, in seconds, or returns it

    @property
    def pause(self) -> float:
        """The time until the next round."""
        return self.interval() if callable(self.interval) else self.interval
