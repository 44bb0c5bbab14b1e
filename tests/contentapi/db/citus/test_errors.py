import pytest
from django.db import InternalError, NotSupportedError
from pytest_django import Settings

from contentapi.core.errors import to_api_error
from contentapi.db.citus.errors import find_constraint
from tests.environment import set_environment


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            'relation "blog_post_102033" violates check constraint "blog_post_title_present_102033"',
            "blog_post_title_present",
        ),
        ('duplicate key value violates unique constraint "blog_workingcopy_pkey_102100"', "blog_workingcopy_pkey"),
        ('new row for relation "blog_post" violates check constraint "blog_post_coauthors"', "blog_post_coauthors"),
        ("canceling statement due to statement timeout", ""),
    ],
)
def test_constraint_has_its_name_without_the_shard(message: str, name: str) -> None:
    assert find_constraint(message) == name


def test_refusal_of_citus_says_what_to_do(settings: Settings) -> None:
    refusal = NotSupportedError("complex joins are only supported when all distributed tables are co-located")
    assert to_api_error(refusal).message == "Internal server error"

    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")

    error = to_api_error(refusal)
    assert (error.status, error.code, error.__cause__) == (500, "INTERNAL", refusal)
    assert error.message == "The distributed database cannot carry this out. Request its parts one by one."


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("server closed the connection unexpectedly\nCONTEXT:  while executing command on 10.0.0.12:5432", 503),
        ("could not commit transaction for shard 102015 on at least one active node", 503),  # of a deferred constraint
        ("tuple concurrently updated\nCONTEXT:  while executing command on 10.0.0.12:5432", 500),
    ],
)
def test_lost_node_is_an_outage_and_another_internal_error_is_not(message: str, status: int) -> None:
    assert to_api_error(InternalError(message)).status == status
