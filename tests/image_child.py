"""Runs the child process that makes the variants of an image, and measures it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from blog.images.formats import MAX_MEMORY
from contentapi.conf.timeouts import IMAGE_LIMIT
from contentapi.core.limited_child import send
from tests.deployment.processes import ROOT

COMMAND = [sys.executable, "-m", "blog.images.variants"]
# Linux counts the memory of the process that starts a child as the child's: this one is small, the tests are not.
LAUNCHER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), capture_output=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = usage.ru_utime + usage.ru_stime
print(json.dumps([done.stdout[1 + 8 :].decode(), done.returncode, usage.ru_maxrss * 1024, seconds]))
"""


class Run(NamedTuple):
    """The end of a child process: what it printed, its status, its bytes of memory and its seconds of the processor."""

    printed: dict[str, Any]
    status: int
    memory: int
    seconds: float

    @property
    def outcome(self) -> str:
        return self.printed.get("rejection") or ("accepted" if self.printed else f"status {self.status}")


def run_child(content: bytes, folder: Path, *, avif: str = "on") -> Run:
    """Make the variants of a file in `files` of a folder, which does not exist yet."""
    source, files = folder / "source", folder / "files"
    files.mkdir(parents=True)
    source.write_bytes(content)
    request = io.BytesIO()
    send(request, json.dumps([str(source), str(files), avif == "on"]).encode())
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *COMMAND, str(MAX_MEMORY), str(IMAGE_LIMIT)]
    done = subprocess.run(launcher, input=request.getvalue(), cwd=ROOT, capture_output=True, check=True)
    printed, *usage = json.loads(done.stdout)
    return Run(json.loads(printed) if printed else {}, *usage)
