"""Visible posts of each caller, compared with the permission table."""

import pytest

from blog import selectors
from contentapi.core.identity import ANONYMOUS, OPERATOR
from tests.factories import make_author, make_post


@pytest.mark.django_db
def test_largest_64_bit_id_finds_its_row() -> None:
    author = make_author(pk=2**63 - 1)
    post = make_post(pk=2**63 - 1, author=author)

    assert selectors.select_post_by_id(ANONYMOUS, str(2**63 - 1)).queryset().get() == post
    assert selectors.select_author_by_id(OPERATOR, str(2**63 - 1)).queryset().get() == author
