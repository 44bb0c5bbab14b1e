"""Settings for generated documents."""

import msgspec
import pytest
from pytest_django import Settings

from contentapi.graphql.documents import DOCUMENTS
from contentapi.projection.statements import STATEMENTS


@pytest.fixture
def empty_caches() -> None:
    DOCUMENTS.clear()
    STATEMENTS.clear()


@pytest.fixture
def no_limits(settings: Settings) -> None:
    """Allow documents of any size. Other tests are about the limits."""
    sizes = ("aliases", "root_fields", "mutations", "directives", "depth", "comparisons")
    without = {f"contentapi_max_{size}": 10**9 for size in sizes}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **without)
