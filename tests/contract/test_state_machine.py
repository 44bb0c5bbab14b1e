"""The whole API against a small model of it: actions in any order, by any caller, on both transports."""

import pytest

from tests.contract.api_machine import Api
from tests.thoroughness import run_machine


@pytest.mark.property
@pytest.mark.django_db
def test_api_behaves_like_the_model() -> None:
    run_machine(Api, 72, steps=40)
