import pytest
from django.db import InternalError

from contentapi.core.errors import get_constraint_name, to_api_error


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
    assert get_constraint_name(InternalError(message)) == name


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
