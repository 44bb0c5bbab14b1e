"""The child process of `blog.files.limited_parsing`: `python -m blog.files.parsing_process MEMORY SECONDS`.

A request is a file. A response is JSON: what `parse_text` returns, or the reason why it refuses the file. Neither
Django nor the settings are imported, which take four times as long as the rest of the start.
"""

import json
import sys

from blog.files.syntax import InvalidFile, parse_text
from contentapi.core.limited_child import respond_within_limits


def build_response(content: bytes) -> bytes:
    try:
        values, body = parse_text(content)
    except InvalidFile as error:
        return json.dumps({"reason": str(error)}).encode()
    except MemoryError:
        sys.exit("A file needs more memory than the limit.")
    return json.dumps({"values": values, "body": body}).encode()


if __name__ == "__main__":
    respond_within_limits(build_response)
