"""The admin form of posts: validation, transitions and concurrent changes."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Post, PostSource
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import get_form_errors, read_form, submit_form
from tests.blog.racing import race
from tests.factories import make_author, make_post, make_user

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, 12, 30, tzinfo=UTC)
ADD = reverse("admin:blog_post_add")
CHANGED_MEANWHILE = "Somebody has changed this post since you opened it. Open it again to see how."


def get_change_url(post: Post) -> str:
    return reverse("admin:blog_post_change", args=[post.pk])


def read_row(post: Post) -> Any:
    return Post.objects.values().get(pk=post.pk)


@pytest.mark.parametrize(("status", "day"), [("draft", ""), ("published", ""), ("scheduled", "2100-01-01")])
def test_post_from_the_add_form_is_stored_by_the_service(editor_client: Client, status: str, day: str) -> None:
    author = make_author()
    time = "12:30:00" if day else ""
    text = {"title": " Soup ", "body": "One\r\ntwo ", "tags": "hot\r\n very cheap \r\n\r\n", "author": str(author.pk)}

    response = submit_form(editor_client, ADD, **text, status=status, publish_at_0=day, publish_at_1=time)

    stored = {"title": "Soup", "body": "One\ntwo ", "tags": ["hot", "very cheap"], "author": author.pk, "version": 1}
    state = {"status": status, "publish_at": LATER if day else None}
    assert response.headers["Location"] == reverse("admin:blog_post_changelist")
    assert list(Post.objects.values(*stored, *state)) == [stored | state]


@pytest.mark.parametrize(
    ("edits", "fields"),
    [
        ({"title": " "}, {"title"}),
        ({"title": "x" * 201}, {"title"}),
        ({"author": ""}, {"author"}),
        ({"tags": "x" * 51}, {"tags"}),
        ({"tags": "\n".join(map(str, range(21)))}, {"tags"}),
        ({"tags": "a\r\na"}, {"__all__"}),
        ({"body": "x" * 200_001}, {"__all__"}),
        ({"status": "lost"}, {"status"}),
        ({"status": "scheduled"}, {"publish_at"}),
        ({"status": "scheduled", "publish_at_0": "2020-01-01", "publish_at_1": "00:00"}, {"publish_at"}),
        ({"publish_at_0": "2100-01-01", "publish_at_1": "00:00"}, {"publish_at"}),
    ],
)
def test_invalid_post_is_rejected_with_form_errors(
    editor_client: Client, edits: dict[str, str], fields: set[str]
) -> None:
    valid = {"title": "Soup", "author": str(make_author().pk)}

    response = submit_form(editor_client, ADD, **{**valid, **edits})

    assert response.status_code == 200
    assert set(get_form_errors(response)) == fields
    assert not Post.objects.exists()


def test_changed_post_has_normalized_line_endings_and_a_new_version(editor_client: Client) -> None:
    post = make_post(title="Old", body="Old.", tags=["a"], updated_at=PAST)
    before = read_row(post)

    submit_form(editor_client, get_change_url(post), title=" New ", body="One\r\n\r\ntwo\r\n", tags="b\r\nc")

    after = read_row(post)
    assert after.pop("updated_at") > before.pop("updated_at")
    changed = {name: after[name] for name in ("changed_at", "changed_by", "changed_with")}
    assert (changed["changed_by"], changed["changed_with"]) == (int(editor_client.session["_auth_user_id"]), "admin")
    text = {"title": "New", "body": "One\n\ntwo\n", "tags": ["b", "c"]}
    assert after == {**before, **text, **changed, "version": 2}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"body": "\n\n  One\n\ntwo  \n\n"},
        {"body": "One\r\ntwo\r\n"},
        {"body": "<b>&amp;</textarea>"},
        {"tags": ["hot", "very hot"]},
        {"tags": ["salt, pepper", "hot"]},
        {"status": "scheduled", "publish_at": LATER.replace(second=1, microsecond=5)},
        {"status": "archived"},
        {"title": "x" * 200, "body": ""},
    ],
)
def test_form_submitted_unchanged_changes_nothing(editor_client: Client, values: dict[str, Any]) -> None:
    post = make_post(**{"updated_at": PAST, **values})
    PostSource.objects.create(post=post, path="a.md", digest=b"1", authors=["Ines", "Jo"], status="published")
    before = read_row(post)

    response = submit_form(editor_client, get_change_url(post))

    assert response.status_code == 302, get_form_errors(response)
    assert read_row(post) == before
    assert PostSource.objects.values("path", "authors", "status").get() == {
        "path": "a.md",
        "authors": ["Ines", "Jo"],
        "status": "published",
    }


def test_source_shows_the_front_matter_that_has_no_field(editor_client: Client) -> None:
    kept = {"slug": "<soup>", "expires": {"$date": "2030-01-01"}}
    PostSource.objects.create(
        post=(post := make_post()), source="kitchen", path="a.md", digest=b"1", authors=[], front_matter=kept
    )

    page = editor_client.get(get_change_url(post)).content.decode()

    assert "<pre>+++\nslug = &quot;&lt;soup&gt;&quot;\nexpires = 2030-01-01\n+++\n</pre>" in page
    assert "kitchen" in page


def test_one_save_of_text_and_status_increments_the_version_once(editor_client: Client) -> None:
    post = make_post(status="draft", title="Old")

    submit_form(editor_client, get_change_url(post), status="published", title="New")

    saved = {"status": "published", "title": "New", "version": 2}
    assert Post.objects.values(*saved).get() == saved


def test_illegal_transition_is_rejected_and_the_form_keeps_the_text(editor_client: Client) -> None:
    post = make_post(status="archived", updated_at=PAST)
    before = read_row(post)

    response = submit_form(
        editor_client, get_change_url(post), status="published", title="New", body="My evening's work"
    )

    assert get_form_errors(response) == {"status": ["A post that is archived cannot become published."]}
    kept = read_form(response.text)
    assert (kept["title"], kept["body"], kept["status"]) == ("New", "My evening's work", "published")
    assert read_row(post) == before


def test_new_publication_time_of_a_scheduled_post_is_rejected(editor_client: Client) -> None:
    post = make_post(status="scheduled", publish_at=LATER)
    before = read_row(post)

    response = submit_form(editor_client, get_change_url(post), publish_at_0="2101-01-01", title="New")

    assert response.status_code == 200
    assert get_form_errors(response) == {"status": ["A post that is scheduled cannot become scheduled."]}
    assert read_row(post) == before


def test_form_opened_before_another_change_is_rejected(editor_client: Client) -> None:
    post = make_post(title="Old", status="draft")
    opened = read_form(editor_client.get(get_change_url(post)).text)
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": "published"})

    response = editor_client.post(get_change_url(post), opened | {"title": "New"})

    assert response.status_code == 200
    assert get_form_errors(response) == {"__all__": [CHANGED_MEANWHILE]}
    assert Post.objects.values("title", "status").get(pk=post.pk) == {"title": "Old", "status": "published"}


@pytest.mark.django_db(transaction=True)
def test_second_of_two_concurrent_saves_is_rejected() -> None:
    post, editor = make_post(title="Old"), make_user(Role.EDITOR)
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(editor)
    opened = read_form(browsers[0].get(get_change_url(post)).text)

    responses = race(
        lambda: Post.objects.select_for_update().get(),
        partial(browsers[0].post, get_change_url(post), opened | {"title": "First"}),
        partial(browsers[1].post, get_change_url(post), opened | {"title": "Second"}),
    )

    saved, refused = sorted(responses, key=lambda response: -response.status_code)
    assert (saved.status_code, refused.status_code) == (302, 200)
    assert get_form_errors(refused) == {"__all__": [CHANGED_MEANWHILE]}
    assert CHANGED_MEANWHILE in refused.text
    kept = read_form(refused.text)["title"]
    assert {kept, Post.objects.get(version=2).title} == {"First", "Second"}
