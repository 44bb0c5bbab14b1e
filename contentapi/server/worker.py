"""The state of this worker process, which the application writes and the server reads.

`WORKER` is one object for each process. A forked worker begins with the state of its parent, which serves no requests.
"""

import socket
from dataclasses import dataclass

from contentapi.db.engine.slots import ConnectionSlots


@dataclass(slots=True)
class Worker:
    """The counters and flags of a worker. Threads add to `requests` without a lock: it may miss some."""

    requests: int = 0
    is_retiring: bool = False  # the worker will end: each response closes its connection
    slots: ConnectionSlots | None = None
    listener: socket.socket | None = None  # of granian, inherited from the master


WORKER = Worker()
