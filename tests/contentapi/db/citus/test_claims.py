import pytest
from django.db import connection
from pytest_django import Settings

from contentapi.db.citus.claims import claim, list_held_values
from contentapi.db.citus.tables import CLAIMS
from tests.environment import set_environment


@pytest.fixture
def claims(db: None, settings: Settings) -> None:  # noqa: ARG001
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {CLAIMS} (kind text, value text, post_id bigint, PRIMARY KEY (value, kind))")


def is_held(value: str, post_id: int) -> bool:
    return (value, post_id) in {("tides", 1), ("kelp", 2)}


@pytest.mark.usefixtures("claims")
def test_value_is_claimed_by_one_post_once_or_again() -> None:
    assert claim("slug", "tides", 1, is_held)
    assert claim("slug", "tides", 1, is_held)
    assert not claim("slug", "tides", 2, is_held)
    assert claim("file", "tides", 2, is_held)


@pytest.mark.usefixtures("claims")
def test_claim_of_a_post_without_the_value_is_void() -> None:
    assert claim("slug", "tides", 7, is_held)

    assert claim("slug", "tides", 1, is_held)
    assert not claim("slug", "tides", 7, is_held)


def test_one_postgresql_needs_no_claim() -> None:
    assert claim("slug", "kelp", 1, is_held)


@pytest.mark.usefixtures("claims")
def test_values_that_other_posts_have_are_listed() -> None:
    for value, post in (("tides", 1), ("kelp", 2), ("foam", 3)):
        claim("slug", value, post, is_held)

    assert list_held_values("slug", ["tides", "kelp", "foam", "sand"], 2, is_held) == {"tides"}
