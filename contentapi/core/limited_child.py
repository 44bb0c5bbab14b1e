"""A child process with limits: a hostile file costs no more than these, and ends neither a server nor a worker.

A request and a response are the length in 8 bytes and the content. The child imports no Django, which takes long to
start, and calls `respond_within_limits`.
"""

import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LENGTH = 8
READY = b"."
GENTLE = 10  # added to the niceness: requests come first


class ChildEnded(Exception):
    """The child has ended by itself without a response, with a status as that of `subprocess`."""

    def __init__(self, status: int) -> None:
        super().__init__(f"The child process has ended with status {status}.")
        self.status = status


class LimitedChild:
    """Handles one request at a time: `begin`, wait until `is_done`, `read_response`; at the end `close`."""

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
            send(self.child.stdin, request)

    def is_done(self, seconds: float | None = None) -> bool:
        """Wait for the child, for at most some seconds. Return whether it has responded or has ended."""
        if self.child is None:
            return True
        poller = select.poll()
        pipe: Any = self.child.stdout
        poller.register(pipe, select.POLLIN)
        return bool(poller.poll(None if seconds is None else seconds * 1000))

    def read_response(self) -> bytes:
        """Return the response. Raises `ChildEnded`."""
        response = receive(self.child.stdout) if self.child else None
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
        pipe: Any = child.stdout
        if pipe.read(len(READY)) != READY:
            child.communicate()
            raise ChildEnded(child.returncode)
        return child


def send(pipe: Any, content: bytes) -> None:
    pipe.write(len(content).to_bytes(LENGTH, "big"))
    pipe.write(content)
    pipe.flush()


def receive(pipe: Any) -> bytes | None:
    """Return the next request or response; None if the other process has ended."""
    length = pipe.read(LENGTH)
    size = int.from_bytes(length, "big")
    content = pipe.read(size)
    return content if len(length) == LENGTH and len(content) == size else None


def respond_within_limits(respond: Callable[[bytes], bytes]) -> None:
    """Respond to requests until the parent ends, or one breaks a limit of the command line: MEMORY SECONDS."""
    for number in (signal.SIGINT, signal.SIGTERM):  # of a service: the parent gets them too, and ends the child
        signal.signal(number, signal.SIG_IGN)
    limit_memory(int(sys.argv[1]))
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    while (content := receive(sys.stdin.buffer)) is not None:
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))  # by default, SIGPROF ends a process
        response = respond(content)
        signal.setitimer(signal.ITIMER_PROF, 0)
        send(sys.stdout.buffer, response)


def limit_memory(most: int) -> None:
    """Limit the address space of this process, in bytes. macOS ignores the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform != "darwin":
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def be_gentle() -> None:
    with suppress(OSError):  # a sandbox forbids it, such as that of systemd
        os.nice(GENTLE)
