"""The GraphQL operations of the blog, from document to response."""

import pytest

from blog.models import Comment
from contentapi.core.identity import Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_comment, make_post

CHANGED = "{ title body tags status version publishAt }"


@pytest.mark.django_db
def test_update_post_changes_the_sent_fields_and_returns_the_post(gql: GraphQL) -> None:
    post = make_post(title="Old", body="Old.", tags=["a"], status="draft")

    response = gql(
        f"mutation ($input: UpdatePostInput!) {{ updatePost(input: $input) {CHANGED} }}",
        actor=make_actor(Role.EDITOR),
        input={"id": post.pk, "title": "New", "tags": [], "expectedVersion": '"1-c0ffee"'},
    )

    assert response.data == {
        "updatePost": {
            "title": "New",
            "body": "Old.",
            "tags": [],
            "status": "draft",
            "version": "2",
            "publishAt": None,
        }
    }


@pytest.mark.django_db
def test_delete_mutations_return_the_id(gql: GraphQL) -> None:
    post, comment = make_post(), make_comment(make_post())

    response = gql(
        "mutation ($post: ID!, $comment: ID!) { deletePost(id: $post) deleteComment(id: $comment) }",
        actor=make_actor(Role.EDITOR),
        post=post.pk,
        comment=comment.pk,
    )

    assert response.data == {"deletePost": str(post.pk), "deleteComment": str(comment.pk)}
    assert Comment.objects.get().state == "deleted"
