"""The child process of `blog.images.processing`, called with SOURCE FOLDER AVIF MEMORY SECONDS.

It writes the variants of the file SOURCE to FOLDER, and prints a JSON object: a `Result`, or the reason of a rejection.
The limit of time ends it by a signal. A failure that says nothing about the image, such as a full disk, is a traceback.
Neither Django nor the settings are imported.
"""

import json
import sys
from pathlib import Path
from typing import Any

from contentapi.core.child_limits import be_gentle, ignore_signals_of_a_stop, limit_memory, limit_processor_time


def run_child(source: Path, folder: Path, *, with_avif: bool) -> None:
    from blog.images.decoding import Rejected  # Pillow is imported within the limits
    from blog.images.variants import make_variants

    response: dict[str, Any]
    try:
        response = make_variants(source, folder, with_avif=with_avif)._asdict()
    except Rejected as error:
        response = {"rejection": str(error)}
    except MemoryError:
        response = {"rejection": "The image needs more memory than the limit. Upload it in a smaller size."}
    print(json.dumps(response))  # noqa: T201 - the response


if __name__ == "__main__":
    ignore_signals_of_a_stop()
    be_gentle()
    limit_memory(int(sys.argv[4]))
    limit_processor_time(int(sys.argv[5]))
    run_child(Path(sys.argv[1]), Path(sys.argv[2]), with_avif=sys.argv[3] == "on")
