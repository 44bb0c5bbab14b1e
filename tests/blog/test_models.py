"""The constraints of the blog's tables."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from blog.models import MAX_BODY, MAX_TAGS, Author, Coauthorship, Comment, Post, PostSource, PostStatus
from contentapi.core.errors import get_constraint_name
from contentapi.db.statements import fetch_column
from tests.factories import make_author, make_comment, make_post

LATER = datetime(2100, 1, 1, tzinfo=UTC)
TABLES: tuple[type[models.Model], ...] = (Author, Post, Coauthorship, Comment, PostSource)


def make_source(**values: Any) -> PostSource:
    return PostSource.objects.create(
        **{"post": make_post(), "path": "a.md", "digest": b"", "authors": [], "status": "published", **values}
    )


def list_coauthor_twice() -> None:
    coauthor = make_author()
    post = make_post(coauthor_ids=[coauthor.pk])
    Coauthorship.objects.create(post=post, author=coauthor, created_at=LATER, is_public=True)


def make_second_source_of_a_path() -> None:
    make_source(path="soup.md")
    make_source(path="soup.md")


VIOLATIONS: list[tuple[str, Callable[[], object]]] = [
    ("blog_author_name_present", lambda: make_author(name="")),
    ("blog_post_status_known", lambda: make_post(status="lost")),
    ("blog_post_title_present", lambda: make_post(title="")),
    ("blog_post_body_length", lambda: make_post(body="é" * (MAX_BODY + 1))),
    ("blog_post_tags_number", lambda: make_post(tags=[str(number) for number in range(MAX_TAGS + 1)])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", "b", "a"])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", ""])),
    ("blog_post_tags_set", lambda: make_post(tags=["a", None])),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.SCHEDULED)),
    ("blog_post_publish_at_iff_scheduled", lambda: make_post(status=PostStatus.DRAFT, publish_at=LATER)),
    ("blog_post_version_positive", lambda: make_post(version=0)),
    ("blog_coauthorship_once", list_coauthor_twice),
    ("blog_comment_body_present", lambda: make_comment(make_post(), body="")),
    ("blog_comment_state_known", lambda: make_comment(make_post(), state="spam", state_changed_at=LATER)),
    ("blog_comment_state_known", lambda: make_comment(make_post(), state="hidden")),
    ("blog_postsource_file_unique", make_second_source_of_a_path),
]


def test_row_that_violates_a_constraint_raises_an_error_with_its_name() -> None:
    for name, write in VIOLATIONS:
        with pytest.raises(IntegrityError) as refusal, transaction.atomic():
            write()

        assert get_constraint_name(refusal.value) == name


def test_every_constraint_and_every_rule_of_a_post_has_a_violating_row() -> None:
    names = {constraint.name for table in TABLES for constraint in table._meta.constraints} - {"blog_post_valid"}
    [source] = fetch_column("SELECT prosrc FROM pg_proc WHERE proname = 'blog_is_valid_post'")
    rules = {f"blog_post_{rule}" for rule in re.findall(r"(?:THEN|:=) '(\w+)'", source)}

    assert {name for name, _ in VIOLATIONS} == names | rules
    assert len(rules) == 7


def test_paths_that_differ_in_case_are_different_sources() -> None:
    make_source(path="soup.md")
    make_source(path="Soup.md")

    assert sorted(PostSource.objects.values_list("path", flat=True)) == ["Soup.md", "soup.md"]
