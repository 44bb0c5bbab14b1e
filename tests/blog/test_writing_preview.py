"""The preview of a post, and the suggestions of tags, in the form of a post."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog.desk import queries
from blog.models import MAX_BODY, Post, PostStatus
from contentapi.core.identity import ANONYMOUS, OPERATOR, Role
from tests.blog.author_clients import browse
from tests.factories import make_actor, make_author, make_post, make_user

PREVIEW = reverse("admin:blog_post_preview")
TAGS = reverse("admin:blog_post_tags")


def preview(client: Client, **values: Any) -> str:
    response = client.post(PREVIEW, {"post": "new", **values})
    assert response.status_code == 200, response.text
    document: str = response.json()["document"]
    return document


# Preview


def test_preview_shows_the_post_as_readers_see_it() -> None:
    client = browse(Role.AUTHOR, name="Ann <b>")

    page = preview(client, title="Soup & <i>", body="\r\n**hot**\r\n<script>alert(1)</script>", tags="a\r\n\r\n<u>")

    assert "<h1>Soup &amp; &lt;i&gt;</h1>" in page
    assert "<strong>hot</strong>" in page
    assert "<span>Ann &lt;b&gt;</span>" in page
    assert "<li>a</li><li>&lt;u&gt;</li>" in page
    assert "Not published yet" in page
    assert "alert" not in page


def test_preview_forbids_scripts_and_loads_one_stylesheet() -> None:
    page = preview(browse(Role.EDITOR), theme="dark")

    [policy] = re.findall(r'content="(default-src[^"]*)"', page)
    stylesheet = "http://testserver/static/blog/reading.css"
    assert policy == (
        f"default-src 'none'; img-src http: https:; style-src {stylesheet}; base-uri 'none'; form-action 'none'"
    )
    assert f'<link rel="stylesheet" href="{stylesheet}">' in page
    assert '<html lang="en" class="dark">' in page
    assert '<html lang="en" class="light">' in preview(browse(Role.EDITOR), theme='"><script>')


def test_preview_of_a_stored_post_has_its_author_and_date() -> None:
    published = make_post(author=make_author(name="Ines"), published_at=datetime(2026, 1, 2, tzinfo=UTC))
    later = datetime(2100, 3, 4, tzinfo=UTC)
    scheduled = make_post(status=PostStatus.SCHEDULED, publish_at=later)
    client = browse(Role.EDITOR)

    assert "<span>Ines</span>" in preview(client, post=published.pk)
    assert "2 January 2026" in preview(client, post=published.pk)
    assert "4 March 2100" in preview(client, post=scheduled.pk)


def test_preview_of_a_new_post_has_the_chosen_author_for_editors_only() -> None:
    other = str(make_author(name="Other").pk)

    assert "<span>Other</span>" in preview(browse(Role.EDITOR, name="Own"), author=other)
    assert "<span>Own</span>" in preview(browse(Role.AUTHOR, name="Own"), author=other)
    assert "<span>Own</span>" in preview(browse(Role.ADMIN, name="Own"))


def test_preview_of_a_hidden_post_is_not_found() -> None:
    draft = make_post(status=PostStatus.DRAFT)

    response = browse(Role.AUTHOR).post(PREVIEW, {"post": draft.pk})

    assert response.status_code == 404
    assert response.json() == {"problem": "There is no post with this id."}


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ("x" * (MAX_BODY + 1), 422, "At most 200,000 characters are allowed (got 200,001)."),
        ("\0", 400, "Text must not contain the NUL character"),
    ],
    ids=["long", "NUL"],
)
def test_preview_states_why_a_text_cannot_be_shown(body: str, status: int, problem: str) -> None:
    response = browse(Role.EDITOR).post(PREVIEW, {"post": "new", "body": body})

    assert response.status_code == status
    assert problem in response.json()["problem"]


def test_preview_writes_nothing_and_needs_a_post_request_with_a_token() -> None:
    client = browse(Role.EDITOR)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_user(Role.EDITOR))

    assert client.get(PREVIEW).status_code == 405
    assert strict.post(PREVIEW, {"post": "new"}).status_code == 403
    preview(client, title="Soup")
    assert not Post.objects.exists()


# Tags


def test_suggestions_begin_with_the_tags_that_begin_with_the_text() -> None:
    for tags in (["Boats", "tugboats"], ["tugboats", "soup"], ["tugboats", "boat"], ["boat"]):
        make_post(tags=tags)

    assert queries.suggest_tags(OPERATOR, "boat") == ["boat", "Boats", "tugboats"]
    assert queries.suggest_tags(OPERATOR, "") == ["tugboats", "boat", "Boats", "soup"]
    assert queries.suggest_tags(OPERATOR, "none") == []


def test_suggestions_contain_the_text_as_it_is() -> None:
    make_post(tags=["100%", "a_b", "back\\slash", "acb", "'; --"])

    assert queries.suggest_tags(OPERATOR, "%") == ["100%"]
    assert queries.suggest_tags(OPERATOR, "a_") == ["a_b"]
    assert queries.suggest_tags(OPERATOR, "\\") == ["back\\slash"]
    assert queries.suggest_tags(OPERATOR, "'") == ["'; --"]


def test_suggestions_come_from_the_posts_that_the_actor_may_see() -> None:
    own = make_author()
    actor = make_actor(Role.AUTHOR, author=own)
    make_post(author=own, status=PostStatus.DRAFT, tags=["own"])
    make_post(status=PostStatus.DRAFT, tags=["hidden"])
    make_post(tags=["public"])

    assert queries.suggest_tags(actor, "") == ["own", "public"]
    assert queries.suggest_tags(ANONYMOUS, "") == ["public"]
    assert queries.suggest_tags(make_actor(Role.EDITOR), "") == ["hidden", "own", "public"]


def test_suggestions_have_a_limit_and_read_the_newest_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SUGGESTING_POSTS", 2)
    for number in range(3):
        make_post(tags=[f"{number}-{letter}" for letter in "abcdefg"])

    found = queries.suggest_tags(OPERATOR, "")

    assert len(found) == 10
    assert not any(tag.startswith("0-") for tag in found)


def test_author_gets_suggestions_as_json() -> None:
    make_post(tags=["boat"])

    assert browse(Role.AUTHOR).get(TAGS, {"q": "bo"}).json() == {"tags": ["boat"]}
    assert browse(Role.AUTHOR).get(TAGS, {"q": "x" * 51}).status_code == 400
