"""Parse the front matter of files in a child process with limits: a hostile file costs no more than its limits.

An import has one child, which parses file by file. A file that breaks a limit ends the child, and the next file gets a
new one. The parent waits in short steps: see `LimitedParser.is_done`.

"""

import json
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO

from blog.files.parsing_process import READY, receive, send
from blog.files.syntax import InvalidFile, Table
from contentapi.conf.timeouts import PARSER_LIMIT

MAX_MEMORY = 512 * 2**20  # bytes of the child's address space


class LimitedParser:
    """Parses one file at a time: call `begin`, wait until `is_done`, then call `finish`. At the end call `close`."""

    def __init__(self, *, memory: int = MAX_MEMORY, seconds: float = PARSER_LIMIT) -> None:
        self.memory, self.seconds = memory, seconds
        self.child: subprocess.Popen[bytes] | None = None
        self.is_parsing = False

    def begin(self, content: bytes) -> None:
        """Give a file to the child. Start a child if none is running."""
        if self.child is not None and self.child.poll() is not None:
            self.close()
        self.child = self.child or self.start()
        self.is_parsing = True
        with suppress(BrokenPipeError):  # the child has ended: `finish` finds no response
            send(open_pipe(self.child.stdin), content)

    def is_done(self, seconds: float | None = None) -> bool:
        """Wait for the child, for at most some seconds. Return whether it has parsed the file or has ended."""
        return self.child is None or bool(wait([open_pipe(self.child.stdout).fileno()], seconds))

    def finish(self) -> tuple[Table, str]:
        """Return what `parse_text` returns for the file. Raises `InvalidFile`, also if the file breaks a limit."""
        response = receive(open_pipe(self.child.stdout)) if self.child else None
        if response is None:
            self.close()
            raise InvalidFile(
                f"cannot be parsed with {self.memory // 2**20:,} MiB of memory and {self.seconds:g} s of CPU time. "
                "Make the front matter simpler."
            )
        self.is_parsing = False
        result = json.loads(response)
        if "reason" in result:
            raise InvalidFile(result["reason"])
        return result["values"], result["body"]

    def close(self) -> None:
        """End the child."""
        child, self.child = self.child, None
        if child is not None:
            if self.is_parsing:
                child.kill()
            child.communicate()  # closes the pipes: an idle child ends
        self.is_parsing = False

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "blog.files.parsing_process", str(self.memory), str(self.seconds)]
        folder = Path(__file__).parents[2]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        if open_pipe(child.stdout).read(len(READY)) != READY:
            child.communicate()
            raise RuntimeError("The process that parses front matter does not start.")
        return child


def open_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("The process that parses front matter has no pipes.")
    return pipe
