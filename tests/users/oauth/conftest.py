import msgspec
import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def no_counting_of_tokens(settings: Settings) -> None:
    """Leave the counting of requests for tokens to the tests of rates: some tests here send many."""
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_tokens="100000/minute")
