"""The actions of the list of posts: one post at once, more after a confirmation and in slices."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from blog.desk.posts.admin import PostAdmin
from blog.models import Author, Post
from contentapi.desk import actions
from contentapi.desk.actions import Action
from tests.admin_forms import read_form
from tests.factories import make_author, make_comment, make_post

LIST = reverse("admin:blog_post_changelist")
LATER = datetime(2100, 1, 1, 12, 30, tzinfo=UTC)


def choose_action(client: Client, action: str, posts: list[Post], path: str = LIST, **values: Any) -> Any:
    """Send the form of the list with an action and the selected posts."""
    selected = [post.pk for post in posts]
    return client.post(path, {"action": action, "_selected_action": selected, **values}, follow=True)


def confirm(client: Client, action: str, posts: list[Post], **values: str) -> Any:
    """Confirm an action as the form of the page does, without its script."""
    return client.post(reverse("admin:blog_post_bulk", args=[action]), build_form(posts, **values), follow=True)


def send_slice(client: Client, action: str, posts: list[Post], **values: str) -> Any:
    """Confirm an action as the script of the page does."""
    url = reverse("admin:blog_post_bulk", args=[action])
    return client.post(url, build_form(posts, **values), headers={"Accept": "application/json"})


def build_form(posts: list[Post], **values: str) -> dict[str, str]:
    return {"ids": ",".join(str(post.pk) for post in posts), "next": LIST, **values}


def list_states() -> list[str]:
    return list(Post.objects.order_by("pk").values_list("status", flat=True))


def test_harmless_action_on_one_post_needs_no_confirmation(editor_client: Client) -> None:
    post = make_post(status="archived", title="Soup")

    response = choose_action(editor_client, "unarchive", [post])

    assert "Soup</a>” is a draft now." in response.text
    assert list_states() == ["draft"]


def test_action_on_several_posts_says_what_it_will_do_and_changes_nothing_yet(editor_client: Client) -> None:
    posts = [make_post(status="draft", title=title) for title in ("Soup", "Bread")]

    response = choose_action(editor_client, "archive", posts)

    assert "The post is put away. Readers do not see it." in response.text
    assert "Archive: 2 posts" in response.text
    assert read_form(response.text)["ids"] == f"{posts[1].pk},{posts[0].pk}"
    assert list_states() == ["draft", "draft"]


def test_confirmed_action_changes_what_it_may_and_names_the_others_with_reasons(editor_client: Client) -> None:
    posts = [
        make_post(status="draft"),
        make_post(status="scheduled", publish_at=LATER),
        make_post(status="archived", title="Old news"),
        make_post(status="published", title="Out"),
    ]

    response = confirm(editor_client, "publish", posts)

    assert list_states() == ["published", "published", "archived", "published"]
    assert "2 posts are published." in response.text
    assert "“Old news” was not published. A post that is archived cannot be published." in response.text
    assert "“Out” was not published. It is published already." in response.text
    assert LogEntry.objects.count() == 2


def test_schedule_from_the_list_asks_for_the_time(editor_client: Client) -> None:
    post = make_post(status="draft")
    time = {"schedule_at_local": "2100-07-01T09:00", "schedule_at_zone": "Europe/Berlin"}

    asked = choose_action(editor_client, "schedule", [post])
    refused = confirm(editor_client, "schedule", [post], schedule_at_local="2020-01-01T00:00")
    refused_slice = send_slice(editor_client, "schedule", [post], schedule_at_local="2020-01-01T00:00")
    confirm(editor_client, "schedule", [post], **time)

    assert 'name="schedule_at_local"' in asked.text
    assert "The time of publication must be in the future." in refused.text
    assert (refused_slice.status_code, refused_slice.json()) == (
        422,
        {"problem": "The time of publication must be in the future."},
    )
    assert Post.objects.values_list("status", "publish_at").get() == ("scheduled", datetime(2100, 7, 1, 7, tzinfo=UTC))


def test_selection_of_all_has_every_post_of_the_filter(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "LISTED", 2)
    author = make_author()
    posts = [make_post(status="draft", author=author) for _ in range(4)]
    make_post(status="archived", author=author)

    path = f"{LIST}?status__exact=draft"
    response = choose_action(editor_client, "publish", posts[:1], path, select_across="1")

    assert "Publish now: 4 posts" in response.text
    assert "and 2 more" in response.text
    assert read_form(response.text)["ids"] == ",".join(str(post.pk) for post in reversed(posts))
    assert read_form(response.text)["next"] == path


def test_selection_of_more_than_the_limit_is_its_beginning_and_says_so(
    editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_SELECTED", 2)
    posts = [make_post(status="draft") for _ in range(3)]

    response = choose_action(editor_client, "publish", posts[:1], select_across="1")

    assert "More than 2 posts are selected. This changes the first 2 of the list" in response.text
    assert read_form(response.text)["ids"] == f"{posts[2].pk},{posts[1].pk}"
    assert "Select from 1 to 2 posts." in confirm(editor_client, "publish", posts).text
    assert set(list_states()) == {"draft"}


def test_button_without_the_script_does_a_slice_and_asks_for_the_others(
    editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "SLICE", 2)
    posts = [make_post(status="draft") for _ in range(3)]

    first = confirm(editor_client, "archive", posts)
    assert list_states() == ["archived", "archived", "draft"]
    assert "2 posts are archived." in first.text
    assert "Archive: 1 post" in first.text
    assert read_form(first.text)["ids"] == str(posts[2].pk)

    last = confirm(editor_client, "archive", posts[2:])
    assert list_states() == ["archived"] * 3
    assert last.redirect_chain == [(LIST, 302)]


def test_slice_reports_what_was_done_and_each_refusal(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "SLICE", 3)
    draft, old = make_post(status="draft"), make_post(status="archived", title="Old <news>")
    gone = make_post()
    gone_id = gone.pk
    posts = [draft, old, Post(pk=gone_id), make_post(status="draft")]
    gone.delete()

    outcome = send_slice(editor_client, "publish", posts).json()

    assert outcome == {
        "done": 1,
        "refused": [
            {
                "reason": "A post that is archived cannot be published.",
                "rows": [{"id": old.pk, "name": "Old <news>"}],
            },
            {
                "reason": "It is gone, or you may not change it any more.",
                "rows": [{"id": None, "name": f"Post {gone_id}"}],
            },
        ],
    }
    assert list_states() == ["published", "archived", "draft"]


def test_deletion_is_confirmed_and_names_the_days_until_the_posts_are_gone(editor_client: Client) -> None:
    post = make_post(title="Soup")
    make_comment(post)

    asked = choose_action(editor_client, "delete_selected", [post])
    assert "For 30 days you can restore them" in asked.text
    assert Post.objects.exists()
    done = confirm(editor_client, "delete_selected", [post])

    assert "1 post is deleted." in done.text
    assert not Post.objects.exists()
    assert LogEntry.objects.get().change_message == "Deleted."
    assert "Soup" in editor_client.get(reverse("admin:blog_post_deleted")).text


def test_post_whose_log_fails_is_not_changed(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_post(status="draft"), make_post(status="draft")
    log_action = PostAdmin.log_action

    def fail_at_the_second(self: PostAdmin, request: HttpRequest, action: Action, row: Post) -> None:
        if row.pk == second.pk:
            raise RuntimeError("no room for the log")
        log_action(self, request, action, row)

    monkeypatch.setattr(PostAdmin, "log_action", fail_at_the_second)
    with pytest.raises(RuntimeError, match="no room"):
        confirm(editor_client, "publish", [first, second])

    assert not Post.objects.filter(pk=first.pk, status="draft").exists()
    assert Post.objects.get(pk=second.pk).status == "draft"
    assert LogEntry.objects.count() == 1


def test_action_of_an_author_spares_posts_of_others(author_client: Client) -> None:
    own, other = make_post(author=Author.objects.get(), status="draft"), make_post(status="draft", title="Secret")

    outcome = send_slice(author_client, "delete_selected", [own, other])

    assert outcome.json()["done"] == 1
    assert Post.objects.get(pk=other.pk).status == "draft"
    assert "Secret" not in outcome.text


@pytest.mark.parametrize("posts", ["", "0", "1,", "9" * 20])
def test_ids_that_are_none_are_refused(editor_client: Client, posts: str) -> None:
    response = editor_client.post(reverse("admin:blog_post_bulk", args=["publish"]), {"ids": posts})

    assert response.status_code == 400


def test_unknown_action_is_not_found_and_the_page_needs_a_post_request(editor_client: Client) -> None:
    values = {"posts": str(make_post().pk)}

    assert editor_client.post(reverse("admin:blog_post_bulk", args=["explode"]), values).status_code == 404
    assert editor_client.get(reverse("admin:blog_post_bulk", args=["publish"])).status_code == 405
