"""Parse the front matter of files in a child process with limits. An import has one child, for file after file."""

import json
import sys

from blog.files.syntax import InvalidFile, Table
from contentapi.conf.timeouts import PARSER_LIMIT
from contentapi.core.limited_child import ChildEnded, LimitedChild

COMMAND = [sys.executable, "-m", "blog.files.parsing_process"]
MAX_MEMORY = 512 * 2**20  # bytes of the child's address space


class LimitedParser(LimitedChild):
    """Parses one file at a time: call `begin`, wait until `is_done`, then call `finish`. At the end call `close`."""

    def __init__(self, *, memory: int = MAX_MEMORY, seconds: float = PARSER_LIMIT) -> None:
        super().__init__(COMMAND, memory=memory, seconds=seconds)

    def finish(self) -> tuple[Table, str]:
        """Return what `parse_text` returns for the file. Raises `InvalidFile`, also if the file breaks a limit."""
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
