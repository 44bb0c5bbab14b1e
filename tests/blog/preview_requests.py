"""Preview links for tests, and requests with their tokens."""

import json
from typing import Any

from django.test import Client

from blog.models import Post
from blog.services.previews import CreatedLink, create_preview_link
from contentapi.core.identity import Actor, Role
from tests.factories import make_actor
from tests.graphql_requests import GraphQLResponse, post_to_graphql


def make_link(post: Post, actor: Actor | None = None, **values: Any) -> CreatedLink:
    return create_preview_link(actor=actor or make_actor(Role.EDITOR), post_id=str(post.pk), **values)


def query(token: str, document: str, **variables: Any) -> GraphQLResponse:
    return post_to_graphql({"query": document, "variables": variables}, Preview_Token=token)


def read_title(token: str, post: Post) -> str | None:
    """Return the title that a token shows of a post; None if it does not show the post."""
    found = query(token, "query ($id: ID!) { post(id: $id) { title } }", id=str(post.pk)).data["post"]
    return None if found is None else str(found["title"])


def get(token: str, path: str, **headers: str) -> Any:
    return Client().get(path, headers={"Preview-Token": token, **headers})


def get_json(token: str, path: str) -> Any:
    response = get(token, path)
    assert response.status_code == 200, response.content
    return json.loads(response.content)
