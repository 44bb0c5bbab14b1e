"""The instance that the creation of a post returns."""

import pytest

from blog import services
from blog.models import Post
from contentapi.core.identity import Role
from tests.factories import make_actor


@pytest.mark.django_db
def test_created_draft_has_the_values_of_its_row() -> None:
    post = services.create_post(actor=make_actor(Role.AUTHOR), title="Soup", body="Hot.", tags=[])

    row = Post.objects.values().get(pk=post.pk)
    assert {name: getattr(post, name) for name in row if name != "publication_order"} == {
        name: value for name, value in row.items() if name != "publication_order"
    }
