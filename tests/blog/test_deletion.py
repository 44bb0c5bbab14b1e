"""Deletion of posts and comments. tests/contract/test_permission_table.py tests the permissions."""

import pytest
from django.db import DatabaseError

from blog import services
from blog.models import Comment, Post
from contentapi.core.errors import Conflict, NotFound, to_api_error
from contentapi.core.identity import OPERATOR, Role
from tests.blog.racing import race
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post


def test_own_comment_on_an_archived_post_raises_not_found() -> None:
    author = make_author()
    comment = make_comment(make_post(status="archived"), author=author)

    with pytest.raises(NotFound):
        services.delete_comment(actor=make_actor(Role.READER, author=author), comment_id=str(comment.pk))


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


def run_and_get_outcome(action: object) -> str:
    assert callable(action)
    try:
        action()
    except (NotFound, Conflict, DatabaseError) as refusal:
        return type(to_api_error(refusal)).__name__
    return "done"


@pytest.mark.django_db(transaction=True)
def test_one_of_two_concurrent_post_deletions_succeeds() -> None:
    post = make_post()
    post_id = str(post.pk)

    def delete() -> str:
        return run_and_get_outcome(lambda: services.delete_post(actor=OPERATOR, post_id=post_id))

    outcomes = race(lambda: Post.objects.select_for_update().get(pk=post.pk), delete, delete)

    assert sorted(outcomes) == ["NotFound", "done"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_deletion_and_comment_leave_no_rows() -> None:
    post = make_post()
    post_id = str(post.pk)
    reader = make_actor(Role.READER, author=make_author())

    outcomes = race(
        lambda: Post.objects.select_for_update().get(pk=post.pk),
        lambda: run_and_get_outcome(lambda: services.delete_post(actor=OPERATOR, post_id=post_id)),
        lambda: run_and_get_outcome(lambda: services.add_comment(actor=reader, post_id=post_id, body="Well said.")),
    )

    assert outcomes[0] == "done"
    assert outcomes[1] in ("done", "Conflict", "NotFound", "Unavailable")  # the last one of a cluster, at COMMIT
    assert (Post.objects.count(), Comment.objects.count()) == (0, 0)
