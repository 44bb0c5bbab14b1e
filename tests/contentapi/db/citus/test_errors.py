import pytest

from contentapi.db.citus.errors import find_constraint


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
