"""The number of examples of a property test: all in `make thorough`, a tenth in `make test`."""

import os

IS_THOROUGH = os.environ.get("THOROUGH") == "on"


def scale_examples(number: int) -> int:
    """Return the number of examples to run."""
    return number if IS_THOROUGH else number // 10
