"""The child process of `blog.files.limited_parsing`: `python -m blog.files.parsing_process MEMORY SECONDS`.

A request and a response are the length in 8 bytes and the content. A response is JSON: what `parse_text` returns, or
the reason why it refuses the file. macOS ignores the limit of memory. Neither Django nor the settings are imported,
which take four times as long as the rest of the start.
"""

import json
import signal
import sys
from typing import IO

from blog.files.syntax import InvalidFile, parse_text
from contentapi.core.child_limits import ignore_signals_of_a_stop, limit_memory

LENGTH = 8
READY = b"."


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


def run_child(memory: int, seconds: float) -> None:
    """Respond to requests until the parent ends. A file that breaks a limit ends this process without a response."""
    ignore_signals_of_a_stop()
    limit_memory(memory)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    while (content := receive(sys.stdin.buffer)) is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # by default, SIGPROF ends a process
        response = build_response(content)
        signal.setitimer(signal.ITIMER_PROF, 0)
        send(sys.stdout.buffer, response)


def build_response(content: bytes) -> bytes:
    try:
        values, body = parse_text(content)
    except InvalidFile as error:
        return json.dumps({"reason": str(error)}).encode()
    except MemoryError:
        sys.exit("A file needs more memory than the limit.")
    return json.dumps({"values": values, "body": body}).encode()


if __name__ == "__main__":
    run_child(int(sys.argv[1]), float(sys.argv[2]))
