"""A child process that reads what a stranger sent, as the child sees it: `contentapi.core.limited_child` starts it.

A request and a response are the length in 8 bytes and the content. It imports no Django, which takes long to start.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO

LENGTH = 8
READY = b"."
GENTLE = 10  # added to the niceness: requests come first


def send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(len(content).to_bytes(LENGTH, "big"))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Return the next request or response; None if the other process has ended."""
    length = pipe.read(LENGTH)
    size = int.from_bytes(length, "big")
    content = pipe.read(size)
    return content if len(length) == LENGTH and len(content) == size else None


def respond_within_limits(respond: Callable[[bytes], bytes]) -> None:
    """Respond to requests until the parent ends, with the limits of the command line: MEMORY SECONDS.

    A request that breaks a limit ends this process without a response.
    """
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
