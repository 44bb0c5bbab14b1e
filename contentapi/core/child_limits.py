"""The limits of a child process that reads what a stranger sent. It imports no Django, which takes long to start."""

import os
import resource
import signal
import sys
from contextlib import suppress

GENTLE = 10  # added to the niceness: requests come first


def limit_memory(most: int) -> None:
    """Limit the address space of this process, in bytes. macOS ignores the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform != "darwin":
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def limit_processor_time(seconds: int) -> None:
    """End this process by SIGXCPU after some seconds of the processor."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def be_gentle() -> None:
    with suppress(OSError):  # a sandbox forbids it, such as that of systemd
        os.nice(GENTLE)


def ignore_signals_of_a_stop() -> None:
    """Ignore the signals that end a service: the parent gets them too, and ends the child."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
