"""Process an image in a child process with limits: a hostile file costs no more than these, and ends no worker."""

import json
import logging
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV
from typing import Any

from blog.images.formats import MAX_MEMORY
from contentapi.conf import conf
from contentapi.conf.timeouts import IMAGE_CLAIM_RENEWAL, IMAGE_LIMIT
from contentapi.core.limited_child import ChildEnded, LimitedChild

LOG = logging.getLogger("contentapi.worker")
COMMAND = [sys.executable, "-m", "blog.images.variants"]
# The signals by which a limit, or an error in a decoder, ends the child
BREAKDOWNS = {-SIGPROF, -SIGSEGV, -SIGABRT, -SIGBUS, -SIGFPE, -SIGILL}


def process_file(source: Path, folder: Path, may_continue: Callable[[], bool]) -> dict[str, Any] | None:
    """Write the variants of a file to a folder. Return None when `may_continue`, called now and then, is false.

    Otherwise return the fields of `blog.images.variants.Result`, or why the image is rejected, as `rejection`. Raises
    `ChildEnded` if somebody has killed the child, or if it has failed for another reason, such as a full disk.
    """
    request = build_request(source, folder, with_avif=conf.environment.contentapi_image_avif == "on")
    try:
        with closing(LimitedChild(COMMAND, memory=MAX_MEMORY, seconds=IMAGE_LIMIT)) as child:
            child.begin(request)
            while not child.is_done(IMAGE_CLAIM_RENEWAL):
                if not may_continue():
                    return None
            outcome: dict[str, Any] = json.loads(child.read_response())
    except ChildEnded as ended:
        if ended.status not in BREAKDOWNS:
            raise
        LOG.warning("The process that makes the variants of an image has ended with status %s.", ended.status)
        limit = f"{MAX_MEMORY // 2**20} MiB of memory and {IMAGE_LIMIT} s of processor time"
        return {"rejection": f"The image cannot be processed with {limit}. Upload it in a smaller size."}
    return outcome


def build_request(source: Path, folder: Path, *, with_avif: bool) -> bytes:
    return json.dumps([str(source), str(folder), with_avif]).encode()
