"""The state of this worker process, which the application writes and the server reads.

`WORKER` is one object for each process. A forked worker begins with the state of its parent, which serves no requests.
A function that must run when a worker has sent its last response is called by `worker_exit` in gunicorn_conf.py, and by
a finalizer in granian.py: granian ends its workers without the functions of `atexit`. A killed worker calls neither.
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
