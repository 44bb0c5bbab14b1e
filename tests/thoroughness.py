"""How many examples a property test tries: all in `make thorough`, which CI runs too; a sixth in `make test`."""

import os

IS_THOROUGH = os.environ.get("THOROUGH") == "on"


def examples(number: int) -> int:
    return number if IS_THOROUGH else number // 6
