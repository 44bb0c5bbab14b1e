"""Runs the child process that makes the variants of images, and measures it."""

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from blog.images.formats import MAX_MEMORY
from contentapi.conf.timeouts import IMAGE_LIMIT
from contentapi.core.limited_child import ChildEnded, LimitedChild

COMMAND = [sys.executable, "-m", "blog.images.variants"]
SMALL = 64 * 2**20  # bytes of a child that has processed small images only
INTERVAL = 0.05  # seconds between two looks at a child, which can end at any time


class Run(NamedTuple):
    """The end of a file: what the child printed, its status, its bytes of memory and its seconds of the processor."""

    printed: dict[str, Any]
    status: int
    memory: int
    seconds: float

    @property
    def outcome(self) -> str:
        return self.printed.get("rejection") or ("accepted" if self.printed else f"status {self.status}")


class MeasuredChild(LimitedChild):
    """A child for many files: to start one takes as long as ten small files. After a large file, it is replaced."""

    def __init__(self) -> None:
        super().__init__(COMMAND, memory=MAX_MEMORY, seconds=IMAGE_LIMIT)

    def make_variants(self, content: bytes, folder: Path, *, with_avif: bool = True) -> Run:
        """Make the variants of a file in `files` of a folder, which does not exist yet."""
        source, files = folder / "source", folder / "files"
        files.mkdir(parents=True)
        source.write_bytes(content)
        child = self.child = self.child or self.start()
        began, memory = read_seconds(child.pid), 0
        self.begin(json.dumps([str(source), str(files), with_avif]).encode())
        while not self.is_done(INTERVAL):
            memory = max(memory, read_peak(child.pid))
        memory, seconds = max(memory, read_peak(child.pid)), read_seconds(child.pid) - began
        try:
            run = Run(json.loads(self.read_response()), 0, memory, seconds)
        except ChildEnded as ended:
            run = Run({}, ended.status, memory, seconds)
        if memory > SMALL:
            self.close()
        return run


def read_peak(pid: int) -> int:
    """Return the most memory that a process has used until now, in bytes; 0 if it has ended."""
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(peak[1]) * 1024 if peak else 0


def read_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system
