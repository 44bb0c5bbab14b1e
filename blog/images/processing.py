"""Process an image in a child process with limits: a hostile file costs no more than these, and ends no worker."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGXCPU
from typing import Any, NamedTuple

from blog.images.formats import MAX_MEMORY
from contentapi.conf import conf
from contentapi.conf.timeouts import IMAGE_CLAIM_RENEWAL, IMAGE_LIMIT

LOG = logging.getLogger("contentapi.worker")
COMMAND = [sys.executable, "-m", "blog.images.variants_process"]
ROOT = Path(__file__).parents[2]


# The signals by which a limit, or an error in a decoder, ends the child
BREAKDOWNS = {-SIGXCPU, -SIGSEGV, -SIGABRT, -SIGBUS, -SIGFPE, -SIGILL}


class ChildKilled(Exception):
    """Somebody has killed the child, such as the kernel for want of memory on the host."""


class ChildFailed(Exception):
    """The child has failed for a reason that says nothing about the image, such as a full disk."""


class Outcome(NamedTuple):
    """What the child has made of an image, as the fields of `blog.images.variants.Result`; or why it was rejected."""

    result: dict[str, Any] | None
    rejection: str = ""


def process_file(source: Path, folder: Path, may_continue: Callable[[], bool]) -> Outcome | None:
    """Write the variants of a file to a folder. Return None when `may_continue`, called now and then, is false.

    Raises `ChildKilled` and `ChildFailed`.
    """
    limits = [str(MAX_MEMORY), str(IMAGE_LIMIT)]
    command: list[str | Path] = [*COMMAND, source, folder, conf.environment.contentapi_image_avif, *limits]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT) as child:
        while True:
            try:
                printed, _ = child.communicate(timeout=IMAGE_CLAIM_RENEWAL)
                break
            except subprocess.TimeoutExpired:
                if not may_continue():
                    child.kill()
                    return None
            except BaseException:
                child.kill()
                raise
    if child.returncode == 0 and printed:
        response = json.loads(printed)
        return Outcome(None, response["rejection"]) if "rejection" in response else Outcome(response)
    message = f"The process that makes the variants of an image has ended with status {child.returncode}."
    if child.returncode not in BREAKDOWNS:
        raise (ChildKilled if child.returncode == -SIGKILL else ChildFailed)(message)
    LOG.warning(message)
    limit = f"{MAX_MEMORY // 2**20} MiB of memory and {IMAGE_LIMIT} s of processor time"
    return Outcome(None, f"The image cannot be processed with {limit}. Upload it in a smaller size.")
