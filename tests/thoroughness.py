"""The number of examples of a property test: all in `make thorough`, a twentieth elsewhere."""

import os

PERCENT = int(os.environ.get("EXAMPLES_IN_PERCENT", "5"))


def scale_examples(number: int) -> int:
    """Return the number of examples to run."""
    return number * PERCENT // 100
