"""The number of examples of a property test: all in `make thorough`, a tenth in `make test`, some of them in CI."""

import os

TENTHS = int(os.environ.get("EXAMPLES_IN_TENTHS", "1"))


def scale_examples(number: int) -> int:
    """Return the number of examples to run."""
    return number * TENTHS // 10
