"""The child process of `blog.images.processing`, called with SOURCE FOLDER AVIF MEMORY SECONDS.

It writes the variants of the file SOURCE to FOLDER, and prints a JSON object: a `Result`, or the reason of a rejection.
What breaks a limit ends it without an object. Neither Django nor the settings are imported.
"""

import json
import sys
from pathlib import Path

from contentapi.core.child_limits import be_gentle, ignore_signals_of_a_stop, limit_memory, limit_processor_time


def run_child(source: Path, folder: Path, *, with_avif: bool) -> None:
    from blog.images.variants import Rejected, make_variants  # Pillow is imported within the limits

    try:
        print(json.dumps(make_variants(source, folder, with_avif=with_avif)._asdict()))  # noqa: T201 - the response
    except Rejected as error:
        print(json.dumps({"rejection": str(error)}))  # noqa: T201
    except MemoryError:
        sys.exit("The image needs more memory than the limit.")


if __name__ == "__main__":
    ignore_signals_of_a_stop()
    be_gentle()
    limit_memory(int(sys.argv[4]))
    limit_processor_time(int(sys.argv[5]))
    run_child(Path(sys.argv[1]), Path(sys.argv[2]), with_avif=sys.argv[3] == "on")
