"""The admin form of posts: validation, transitions and concurrent changes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from blog.models import RENDERED, Post, PostSource, WorkingCopy
from tests.admin_forms import get_form_errors, get_page, open_form, read_form, submit_form
from tests.factories import make_author, make_post

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, 12, 30, tzinfo=UTC)
ADD = reverse("admin:blog_post_add")


def read_row(post: Post) -> Any:
    return Post.objects.values().get(pk=post.pk)


@pytest.mark.parametrize(
    ("action", "time", "status"),
    [("", "", "draft"), ("publish", "", "published"), ("schedule", "2100-01-01T12:30", "scheduled")],
)
def test_post_from_the_add_form_is_stored_by_the_service(
    editor_client: Client, action: str, time: str, status: str
) -> None:
    author = make_author()
    text = {"title": " Soup ", "body": "One\r\ntwo ", "tags": "hot\r\n very cheap \r\n\r\n", "author": str(author.pk)}

    response = submit_form(editor_client, ADD, **text, _act=action, schedule_at_local=time)

    stored = {"title": "Soup", "body": "One\ntwo ", "tags": ["hot", "very cheap"], "author": author.pk, "version": 1}
    state = {"status": status, "publish_at": LATER if time else None}
    assert response.headers["Location"] == reverse("admin:blog_post_changelist")
    assert list(Post.objects.values(*stored, *state)) == [stored | state]


def test_invalid_post_is_rejected_with_form_errors(editor_client: Client) -> None:
    valid = {**open_form(editor_client, ADD), "author": str(make_author().pk), "_act": "schedule"}
    wrong: list[tuple[dict[str, str], set[str]]] = [
        ({"title": " ", "tags": "x" * 51, "schedule_at_local": "tomorrow"}, {"title", "tags", "schedule_at"}),
        ({"title": "x" * 201, "tags": "a\r\na", "body": "x" * 200_001}, {"title", "tags", "body"}),
        ({"title": "Soup"}, {"schedule_at"}),
    ]

    for edits, fields in wrong:
        response = editor_client.post(ADD, {**valid, **edits})

        assert response.status_code == 200
        assert set(get_form_errors(response)) == fields
        assert not Post.objects.exists()


def test_changed_post_has_normalized_line_endings_and_a_new_version(editor_client: Client) -> None:
    post = make_post(title="Old", body="Old.", tags=["a"], status="draft", updated_at=PAST)
    before = read_row(post)

    submit_form(editor_client, get_page(post), title=" New ", body="One\r\n\r\ntwo\r\n", tags="b\r\nc")

    after = read_row(post)
    assert after.pop("updated_at") > before.pop("updated_at")
    changed = {name: after[name] for name in ("changed_at", "changed_by", "changed_with", *RENDERED)}
    assert (changed["changed_by"], changed["changed_with"]) == (int(editor_client.session["_auth_user_id"]), "admin")
    text = {"title": "New", "body": "One\n\ntwo\n", "tags": ["b", "c"]}
    assert after == {**before, **text, **changed, "version": 2}


@pytest.mark.parametrize(
    "values",
    [
        {"body": "\n\n  One\n\ntwo  \n\n", "tags": ["hot", "very hot"]},
        {
            "body": "<b>&amp;</textarea>One\r\ntwo\r\n",
            "tags": ["salt, pepper", "hot"],
            "status": "scheduled",
            "publish_at": LATER.replace(second=1, microsecond=5),
        },
        {"title": "x" * 200, "body": "", "status": "archived"},
    ],
)
def test_form_submitted_unchanged_changes_nothing(editor_client: Client, values: dict[str, Any]) -> None:
    post = make_post(**{"updated_at": PAST, **values})
    PostSource.objects.create(post=post, path="a.md", digest=b"1", authors=["Ines", "Jo"], status="published")
    before = read_row(post)

    response = editor_client.post(get_page(post), read_form(editor_client.get(get_page(post)).text))

    assert response.status_code == 302, get_form_errors(response)
    assert read_row(post) == before
    assert not WorkingCopy.objects.exists()
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

    page = editor_client.get(get_page(post)).content.decode()

    assert "<pre>+++\nslug = &quot;&lt;soup&gt;&quot;\nexpires = 2030-01-01\n+++\n</pre>" in page
    assert "kitchen" in page


def test_action_that_the_state_does_not_allow_is_rejected_and_the_form_keeps_the_text(editor_client: Client) -> None:
    post = make_post(status="archived", updated_at=PAST)
    before = read_row(post)

    response = submit_form(editor_client, get_page(post), _act="publish", title="New", body="My evening's work")

    assert get_form_errors(response) == {"__all__": ["A post that is archived cannot be published."]}
    kept = read_form(response.text)
    assert (kept["title"], kept["body"]) == ("New", "My evening's work")
    assert read_row(post) == before


def test_unknown_action_is_a_page_with_the_reason(editor_client: Client) -> None:
    response = submit_form(editor_client, get_page(make_post()), _act="explode")

    assert response.status_code == 400
    assert "There is no action “explode”." in response.text


def test_tag_with_a_separator_is_still_one_tag_after_a_save(editor_client: Client) -> None:
    tags = ["a\u2028b", "a\x85b", "a\x0bb", "a\x1cb", "a\nb", "a\r\nb", "c"]
    post = make_post(tags=tags, status="draft")

    submit_form(editor_client, get_page(post), title="New")

    assert list(Post.objects.values_list("title", "tags")) == [("New", tags)]


def test_post_without_an_author_is_refused_and_one_from_a_page_without_the_field_keeps_its_own(
    editor_client: Client,
) -> None:
    post = make_post(title="Soup", status="draft")
    values = open_form(editor_client, get_page(post)) | {"title": "Stew"}

    refused = editor_client.post(get_page(post), values | {"author": ""})
    values.pop("author")
    invalid = editor_client.post(get_page(post), values | {"title": ""})
    saved = editor_client.post(get_page(post), values)

    assert [response.status_code for response in (refused, invalid, saved)] == [200, 200, 302]
    assert get_form_errors(refused) == {"author": ["This field is required."]}
    assert (read_row(post)["title"], read_row(post)["author_id"]) == ("Stew", post.author_id)
