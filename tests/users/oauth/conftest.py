import msgspec
import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def raise_token_rate_limit(settings: Settings) -> None:
    """Raise the rate limit of tokens, because some tests here request many."""
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_tokens="100000/minute")
