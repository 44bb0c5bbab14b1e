"""The whole API against a small model of it: actions in any order, by any caller, on both transports."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.api_machine import Api
from tests.thoroughness import scale_examples


@pytest.mark.property
@pytest.mark.django_db
def test_api_behaves_like_the_model() -> None:
    run_state_machine_as_test(
        Api,
        settings=settings(
            max_examples=scale_examples(72),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
