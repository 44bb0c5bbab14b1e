"""The number of examples of a property test: all in `make thorough`, a fiftieth elsewhere."""

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

PERCENT = int(os.environ.get("EXAMPLES_IN_PERCENT", "2"))
IS_THOROUGH = PERCENT >= 100


def scale_examples(number: int) -> int:
    """Return the number of examples to run."""
    return number * PERCENT // 100


def run_machine(machine: Any, examples: int, steps: int = 50) -> None:
    """Let a state machine do random steps, for some examples."""
    checks = list(HealthCheck)
    limits = settings(max_examples=scale_examples(examples), stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(machine, settings=settings(limits, suppress_health_check=checks))
