"""A child process with limits: a hostile file costs no more than these, and ends neither a server nor a worker."""

import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from contentapi.core.child_limits import READY, receive, send

ROOT = Path(__file__).parents[2]


class ChildEnded(Exception):
    """The child has ended by itself without a response, with a status as that of `subprocess`."""

    def __init__(self, status: int) -> None:
        super().__init__(f"The child process has ended with status {status}.")
        self.status = status


class LimitedChild:
    """Handles one request at a time: call `begin`, wait until `is_done`, then call `read_response`; at the end `close`.

    A request that breaks a limit ends the child, and the next one gets a new one.
    """

    def __init__(self, command: Sequence[str], *, memory: int, seconds: float) -> None:
        self.command, self.memory, self.seconds = command, memory, seconds
        self.child: subprocess.Popen[bytes] | None = None
        self.is_busy = False

    def begin(self, request: bytes) -> None:
        """Give a request to the child. Start a child if none is running. Raises `ChildEnded` if it does not start."""
        if self.child is not None and self.child.poll() is not None:
            self.close()
        self.child = self.child or self.start()
        self.is_busy = True
        with suppress(BrokenPipeError):  # the child has ended: there will be no response
            send(open_pipe(self.child.stdin), request)

    def is_done(self, seconds: float | None = None) -> bool:
        """Wait for the child, for at most some seconds. Return whether it has responded or has ended."""
        if self.child is None:
            return True
        poller = select.poll()
        poller.register(open_pipe(self.child.stdout), select.POLLIN)
        return bool(poller.poll(None if seconds is None else seconds * 1000))

    def read_response(self) -> bytes:
        """Return the response. Raises `ChildEnded`."""
        response = receive(open_pipe(self.child.stdout)) if self.child else None
        if response is None:
            child, self.is_busy = self.child, False
            self.close()
            raise ChildEnded(child.returncode if child else 0)
        self.is_busy = False
        return response

    def close(self) -> None:
        """End the child."""
        child, self.child = self.child, None
        if child is not None:
            if self.is_busy:
                child.kill()
            child.communicate()  # closes the pipes: an idle child ends
        self.is_busy = False

    def start(self) -> subprocess.Popen[bytes]:
        command = [*self.command, str(self.memory), str(self.seconds)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        if open_pipe(child.stdout).read(len(READY)) != READY:
            child.communicate()
            raise ChildEnded(child.returncode)
        return child


def open_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("The child process has no pipes.")
    return pipe
