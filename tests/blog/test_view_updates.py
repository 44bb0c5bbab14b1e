"""Updates of posts by REST: changed fields, publication times, versions and errors."""

from datetime import UTC, datetime
from typing import Any

import pytest

from blog.models import Post
from contentapi.core.identity import Role, Scope
from tests.blog.own_posts import make_own_post
from tests.factories import make_actor, make_author, make_post
from tests.resources import send_request

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "scopes", "failure"),
    [
        ({"title": "New", "status": "archived"}, set(Scope), (409, "CONFLICT")),  # of a scheduled post
        ({"title": " ", "status": "published"}, set(Scope), (422, "INVALID")),
        ({"title": "New", "status": "published"}, {Scope.POSTS_READ, Scope.POSTS_WRITE}, (403, "FORBIDDEN")),
        ({"title": "New", "status": "published"}, {Scope.POSTS_READ, Scope.POSTS_PUBLISH}, (403, "FORBIDDEN")),
    ],
)
def test_failed_patch_of_text_and_status_changes_neither(
    body: dict[str, Any], scopes: set[Scope], failure: tuple[int, str]
) -> None:
    author = make_author()
    post = make_post(author=author, status="scheduled", publish_at=LATER, title="Old")
    actor = make_actor(Role.AUTHOR, scopes=scopes, author=author)

    response = send_request("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert response.error[:2] == failure
    assert (Post.objects.get().title, Post.objects.get().status, Post.objects.get().version) == ("Old", "scheduled", 1)


def test_patch_schedules_and_unschedules_a_post() -> None:
    actor, post = make_own_post(status="draft")
    body = {"status": "scheduled", "publishAt": "2100-01-01T01:00:00+01:00"}

    response = send_request("PATCH", f"/posts/{post.pk}", body, actor=actor)

    assert (response.status, response.body["publishAt"]) == (200, "2100-01-01T00:00:00+00:00")
    assert (
        send_request("PATCH", f"/posts/{post.pk}", {"title": "New"}, actor=actor).body["publishAt"]
        == response.body["publishAt"]
    )
    assert send_request("PATCH", f"/posts/{post.pk}", {"status": "draft"}, actor=actor).body["publishAt"] is None


@pytest.mark.parametrize("body", [None, {}, {"expectedVersion": None}])
def test_repeated_publication_returns_the_same_post(body: Any) -> None:
    actor, post = make_own_post(status="draft")

    responses = [send_request("POST", f"/posts/{post.pk}/publish", body, actor=actor) for _ in range(2)]

    assert [(response.status, response.body["status"]) for response in responses] == [(200, "published")] * 2
    assert responses[0].content == responses[1].content
