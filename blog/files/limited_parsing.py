"""Parse the front matter of files in a child process with limits. An import has one child, for file after file."""

import json
import sys
from collections.abc import Callable

from blog.files.syntax import InvalidFile, Table
from contentapi.conf.timeouts import PARSER_LIMIT, PARSER_WAIT
from contentapi.core.limited_child import ChildEnded, LimitedChild

COMMAND = [sys.executable, "-m", "blog.files.syntax"]
MAX_MEMORY = 512 * 2**20  # bytes of the child's address space


class LimitedParser(LimitedChild):
    """Parses one file at a time. It calls `pause`, which may raise an error, for each file and while it waits."""

    def __init__(
        self, pause: Callable[[], None] = lambda: None, *, memory: int = MAX_MEMORY, seconds: float = PARSER_LIMIT
    ) -> None:
        super().__init__(COMMAND, memory=memory, seconds=seconds)
        self.pause = pause

    def parse(self, content: bytes) -> tuple[Table, str]:
        """Return what `parse_text` returns for a file. Raises `InvalidFile`, also if the file breaks a limit."""
        self.begin(content)
        self.pause()
        while not self.is_done(PARSER_WAIT):
            self.pause()
        try:
            result = json.loads(self.read_response())
        except ChildEnded:
            raise InvalidFile(
                f"cannot be parsed with {self.memory // 2**20:,} MiB of memory and {self.seconds:g} s of CPU time. "
                "Make the front matter simpler."
            ) from None
        if "reason" in result:
            raise InvalidFile(result["reason"])
        return result["values"], result["body"]
