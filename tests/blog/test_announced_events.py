"""What was announced of a post, on its page in the desk."""

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.history import versions
from blog.models import Post
from contentapi.core.identity import OPERATOR
from tests.event_log import relay
from tests.factories import make_post


def open_events(client: Client, post_id: int, query: str = "") -> list[tuple[str, str]]:
    """Return the types of the events, and who did it."""
    page = client.get(reverse("admin:blog_post_events", args=[post_id]) + query)
    return [(event.type, person) for event, person, _ in page.context["events"]]


def test_page_lists_the_events_with_the_persons_the_last_first(editor_client: Client) -> None:
    post = make_post(status="draft", changed_by=int(editor_client.session["_auth_user_id"]))
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": "published", "title": "<b>New</b>"})
    relay()

    events = open_events(editor_client, post.pk)

    assert [kind for kind, _ in events] == ["post.published", "post.created"]
    assert [bool(person) for _, person in events] == [False, True]


def test_events_of_a_deleted_post_are_listed(editor_client: Client) -> None:
    pk = make_post().pk
    services.delete_post(actor=OPERATOR, post_id=str(pk))
    relay()

    assert [kind for kind, _ in open_events(editor_client, pk)] == ["post.deleted", "post.created"]


def test_page_has_a_link_to_older_events(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "PAGE", 2)
    post = make_post()
    for number in range(3):
        Post.objects.filter(pk=post.pk).update(title=str(number))
    relay()
    page = editor_client.get(reverse("admin:blog_post_events", args=[post.pk]))

    older = open_events(editor_client, post.pk, f"?before={page.context['next_before']}")

    assert "Older events" in page.text
    assert [kind for kind, _ in older] == ["post.updated", "post.created"]


def test_post_without_events_has_a_page(editor_client: Client) -> None:
    assert open_events(editor_client, make_post().pk) == []


def test_history_links_to_the_events(editor_client: Client) -> None:
    post = make_post()

    page = editor_client.get(reverse("admin:blog_post_history", args=[post.pk]))

    assert reverse("admin:blog_post_events", args=[post.pk]) in page.text
