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
def test_transitions_of_one_operation_run_in_order(gql: GraphQL) -> None:
    post = make_post(status="draft")

    response = gql(
        """
        mutation ($id: ID!, $later: SchedulePostInput!) {
          schedulePost(input: $later) { status publishAt version }
          publishPost(id: $id, expectedVersion: "2") { status publishAt version }
          again: publishPost(id: $id) { status version }
          archivePost(id: $id) { status version }
          unpublishPost(id: $id, expectedVersion: null) { status version }
        }
        """,
        actor=make_actor(Role.EDITOR),
        id=post.pk,
        later={"id": post.pk, "publishAt": "2100-01-01T00:00:00+00:00", "expectedVersion": "1"},
    )

    assert response.data == {
        "schedulePost": {"status": "scheduled", "publishAt": "2100-01-01T00:00:00+00:00", "version": "2"},
        "publishPost": {"status": "published", "publishAt": None, "version": "3"},
        "again": {"status": "published", "version": "3"},
        "archivePost": {"status": "archived", "version": "4"},
        "unpublishPost": {"status": "draft", "version": "5"},
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


@pytest.mark.django_db
def test_failed_mutation_keeps_the_effects_of_the_others(gql: GraphQL) -> None:
    post = make_post(status="draft")

    response = gql(
        'mutation ($id: ID!) { a: publishPost(id: $id) { status } publishPost(id: $id, expectedVersion: "1") { id } }',
        actor=make_actor(Role.EDITOR),
        id=post.pk,
    )

    assert (response.status, response.codes) == (294, ["CONFLICT"])
    assert response.body["data"] == {"a": {"status": "published"}, "publishPost": None}
