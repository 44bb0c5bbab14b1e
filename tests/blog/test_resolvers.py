"""The blog over GraphQL: the wiring, once each way."""

import pytest

from contentapi.identity import Role
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post


@pytest.mark.django_db
def test_a_post_is_answered_with_what_is_selected_and_nothing_else(gql: GraphQL) -> None:
    post = make_post(title="Soup", tags=["kitchen"])
    comment = make_comment(post, body="Hot!")

    answer = gql(
        "query ($id: ID!) { post(id: $id) { title tags commentCount author { name } comments { id body } } }",
        id=post.pk,
    )

    assert answer.data == {
        "post": {
            "title": "Soup",
            "tags": ["kitchen"],
            "commentCount": 1,
            "author": {"name": post.author.name},
            "comments": [{"id": str(comment.pk), "body": "Hot!"}],
        }
    }


@pytest.mark.django_db
def test_create_post_answers_with_the_post(gql: GraphQL) -> None:
    author = make_author(name="Ines")
    actor = make_actor(Role.AUTHOR, author=author)

    answer = gql(
        "mutation ($input: CreatePostInput!) { createPost(input: $input) { title status version author { name } } }",
        actor=actor,
        input={"title": " Soup ", "body": "Boil.", "status": "published"},
    )

    assert answer.data == {
        "createPost": {"title": "Soup", "status": "published", "version": "1", "author": {"name": "Ines"}}
    }
