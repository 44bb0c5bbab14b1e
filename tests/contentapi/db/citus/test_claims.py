from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import Settings

from blog.models import Post
from contentapi.db.citus.backend import BACKEND, LOCK_HOLDER
from contentapi.db.distribution import CLAIMS, get_backend
from contentapi.db.ids import take_id
from contentapi.db.statements import execute
from tests.blog.racing import race
from tests.contentapi.db.citus.claims_table import CREATE
from tests.environment import set_environment
from tests.factories import make_post


@pytest.fixture
def claims(db: None, settings: Settings) -> None:  # noqa: ARG001
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")
    execute(CREATE)


@pytest.fixture
def committed_claims(transactional_db: None, settings: Settings) -> Iterator[None]:  # noqa: ARG001
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")
    execute(CREATE)
    yield
    execute(f"DROP TABLE {CLAIMS}")


def is_held(value: str, post_id: int) -> bool:
    return (value, post_id) in {("tides", 1), ("kelp", 2)}


@pytest.mark.usefixtures("claims")
def test_value_is_claimed_by_one_post_once_or_again() -> None:
    assert BACKEND.claim("slug", "tides", 1, is_held)
    assert BACKEND.claim("slug", "tides", 1, is_held)
    assert not BACKEND.claim("slug", "tides", 2, is_held)
    assert BACKEND.claim("file", "tides", 2, is_held)


@pytest.mark.usefixtures("claims")
def test_claim_of_a_post_without_the_value_is_void() -> None:
    assert BACKEND.claim("slug", "tides", 7, is_held)

    assert BACKEND.claim("slug", "tides", 1, is_held)
    assert not BACKEND.claim("slug", "tides", 7, is_held)


def test_one_postgresql_needs_no_claim() -> None:
    assert get_backend().claim("slug", "kelp", 1, is_held)


@pytest.mark.usefixtures("committed_claims")
def test_claim_that_is_committed_before_its_post_is_no_void_one() -> None:
    """The nodes of a cluster commit a transaction one after the other: the claim can be there, and the post not yet."""
    holder = take_id()
    BACKEND.claim("slug", "tides", holder, is_held)

    def write_post() -> None:
        execute(LOCK_HOLDER, [holder])
        make_post(pk=holder, slug="tides")

    def claim_too() -> bool:
        with transaction.atomic():
            return BACKEND.claim(
                "slug", "tides", take_id(), lambda value, pk: Post.objects.filter(pk=pk, slug=value).exists()
            )

    assert race(write_post, claim_too) == [False]
