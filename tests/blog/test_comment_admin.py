"""The admin pages of comments: list, filters, search, actions, and the newest comments beside a post."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from blog import services
from blog.desk.comments import ACTIONS
from blog.models import Author, Comment, CommentState
from contentapi.auth.sessions import build_session_actor
from contentapi.core.identity import Role
from contentapi.desk.actions import find_next_page, list_offered_actions
from tests.admin_forms import get_page, log_in
from tests.blog.comments_in_states import make_comment_in
from tests.factories import make_actor, make_author, make_comment, make_post, make_user
from users.models import User

LIST = reverse("admin:blog_comment_changelist")


@pytest.fixture
def editor() -> User:
    return make_user(Role.EDITOR, name="Edda Editor")


@pytest.fixture
def browser(editor: User) -> Client:
    return log_in(editor)


def list_comments(browser: Client, **filters: str | int) -> set[Comment]:
    return set(browser.get(LIST, filters).context["cl"].result_list)


def run_action(browser: Client, action: str, *comments: Comment, **others: str) -> Any:
    selected = [comment.pk for comment in comments]
    return browser.post(LIST, {"action": action, "_selected_action": selected, **others}, follow=True)


def press(browser: Client, comment: Comment, action: str, **values: str) -> Any:
    return browser.post(reverse("admin:blog_comment_action", args=[comment.pk, action]), values)


def test_list_leaves_out_deleted_comments_unless_they_are_asked_for(browser: Client) -> None:
    visible, hidden, deleted = (make_comment_in(state) for state in CommentState.values)

    assert list_comments(browser) == {visible, hidden}
    assert list_comments(browser, state="hidden") == {hidden}
    assert list_comments(browser, state="deleted") == {deleted}


def test_list_is_filtered_by_post_and_author(browser: Client) -> None:
    post, author = make_post(), make_author()
    on_post, by_author = make_comment(post), make_comment(make_post(), author=author)
    make_comment(make_post())

    assert list_comments(browser, post__id__exact=post.pk) == {on_post}
    assert list_comments(browser, author__id__exact=author.pk) == {by_author}


def test_list_is_searched_by_words(browser: Client) -> None:
    found = make_comment(make_post(), body="A needle.")
    make_comment(make_post())

    assert list_comments(browser, q="NEEDLE") == {found}


def test_list_names_the_person_who_changed_the_state(browser: Client) -> None:
    author = make_author(name="Rosa Reader")
    reader = make_actor(Role.READER, author=author).through("REST")
    own, other = make_comment(make_post(), author=author), make_comment(make_post())
    services.delete_comment(actor=reader, comment_id=str(own.pk))

    press(browser, other, "delete")
    page = browser.get(LIST, {"state": "deleted"}).text

    assert "Rosa Reader, who wrote it, by a program" in page
    assert "Edda Editor, in the admin" in page


def test_actions_change_many_comments_and_name_those_that_they_cannot(browser: Client) -> None:
    visible = [make_comment(make_post()) for _ in range(3)]
    hidden = make_comment_in("hidden", body="Seen before")

    response = run_action(browser, "hide", *visible, hidden)

    assert "3 comments were hidden." in response.text
    assert "“Seen before” was not hidden. It is hidden." in response.text
    assert not Comment.objects.filter(state="visible").exists()
    assert LogEntry.objects.filter(change_message__contains="Hidden").count() == 3


@pytest.mark.parametrize(
    ("state", "days", "buttons"),
    [
        ("visible", 0, ["hide", "delete"]),
        ("hidden", 0, ["show", "delete"]),
        ("deleted", 0, ["restore"]),
        ("deleted", 31, []),
    ],
)
def test_buttons_fit_the_state(editor: User, state: str, days: int, buttons: list[str]) -> None:
    changed_at = timezone.now() - timedelta(days=days)
    comment = make_comment(make_post(), state=state, state_changed_at=changed_at)

    offered = list_offered_actions(ACTIONS, build_session_actor(editor), comment)

    assert [action.name for action in offered] == buttons


def test_buttons_move_a_comment_through_its_states(browser: Client, editor: User) -> None:
    comment = make_comment(make_post(), body="Hear!")
    states = []

    for action in ("hide", "show", "delete", "restore"):
        response = press(browser, comment, action)
        comment.refresh_from_db()
        states.append(comment.state)
        assert response["Location"] == get_page(comment)

    shown = browser.get(get_page(comment)).context["desk_actions"]
    assert [action.name for action in shown] == ["hide", "delete"]
    assert states == ["hidden", "visible", "deleted", "visible"]
    assert (comment.state_changed_by, comment.state_changed_with, comment.body) == (editor.pk, "admin", "Hear!")


@pytest.mark.parametrize(
    "page",
    ["https://evil.example.invalid/", "//evil.example.invalid/", "javascript:alert(1)", "\\\\evil.example.invalid"],
)
def test_button_leads_to_no_other_site(page: str) -> None:
    assert find_next_page(RequestFactory().post("/", {"next": page}), "/admin/") == "/admin/"
    assert find_next_page(RequestFactory().get("/", {"next": page}), "/admin/") == "/admin/"


def test_comment_has_no_page_to_delete_it_for_good(browser: Client) -> None:
    comment = make_comment(make_post())

    response = browser.post(reverse("admin:blog_comment_delete", args=[comment.pk]), {"post": "yes"})

    assert response.status_code == 403
    assert run_action(browser, "delete_selected", comment, post="yes").status_code == 200
    assert Comment.objects.get().state == "visible"


# Beside a post


def test_post_shows_its_newest_comments_with_buttons(browser: Client) -> None:
    post, now = make_post(), timezone.now()
    comments = [make_comment(post, created_at=now - timedelta(hours=age)) for age in range(12)]
    make_comment_in("deleted", post)
    make_comment(make_post())

    context = browser.get(get_page(post)).context

    shown = [comment for comment, _, _ in context["newest_comments"]]
    assert (shown, context["comment_total"]) == (comments[:10], 12)
    assert [action.name for action in context["newest_comments"][0][2]] == ["hide", "delete"]


def test_button_beside_a_post_leads_back_to_the_post(browser: Client) -> None:
    comment = make_comment(make_post())
    page = reverse("admin:blog_post_change", args=[comment.post_id])

    response = press(browser, comment, "hide", next=f"{page}#comments")

    assert response["Location"] == f"{page}#comments"
    assert "hidden (by Edda Editor, in the admin)" in " ".join(browser.get(page).text.split())


def test_author_sees_visible_comments_only_on_another_authors_post(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    Author.objects.create(user=user, name="Ada")
    client.force_login(user)
    post = make_post()
    visible = make_comment(post)
    hidden = make_comment_in("hidden", post=post)

    context = client.get(get_page(post)).context

    assert [comment for comment, _, _ in context["newest_comments"]] == [visible]
    assert context["may_list_comments"] is False
    assert client.get(get_page(hidden)).status_code == 404
