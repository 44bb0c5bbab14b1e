"""The child process of `blog.images.processing`: `python -m blog.images.variants_process MEMORY SECONDS`.

A request has the arguments of `make_variants`, and a response is a `Result` or the reason of a rejection, both as JSON.
A failure that says nothing about the image, such as a full disk, is a traceback. Neither Django nor the settings are
imported.
"""

import json
from pathlib import Path
from typing import Any

from contentapi.core.limited_child import be_gentle, respond_within_limits


def build_response(request: bytes) -> bytes:
    from blog.images.decoding import Rejected  # Pillow is imported within the limits
    from blog.images.variants import make_variants

    source, folder, with_avif = json.loads(request)
    response: dict[str, Any]
    try:
        response = make_variants(Path(source), Path(folder), with_avif=with_avif)._asdict()
    except Rejected as error:
        response = {"rejection": str(error)}
    except MemoryError:
        response = {"rejection": "The image needs more memory than the limit. Upload it in a smaller size."}
    return json.dumps(response).encode()


if __name__ == "__main__":
    be_gentle()
    respond_within_limits(build_response)
