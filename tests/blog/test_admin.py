"""The admin pages of the blog. Forms are submitted as a browser does: all fields, with some edits."""

from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from blog import services
from blog.models import Author, Comment, Post, PostSource
from contentapi.core.errors import Conflict, Forbidden, NotFound
from contentapi.core.identity import OPERATOR, Actor, Role
from tests.blog.racing import race
from tests.factories import make_author, make_comment, make_post, make_user

PAST, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, 12, 30, tzinfo=UTC)
ADD = reverse("admin:blog_post_add")
CHANGED_MEANWHILE = "Somebody has changed this post since you opened it. Open it again to see how."
MODELS = [model for model in admin.site._registry if model._meta.app_label == "blog"]


class Form(HTMLParser):
    """The fields of a page's form with their values, as a browser would send them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.open: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and given.get("type") not in ("submit", "checkbox", "file"):
            self.values[name] = given.get("value") or ""
        elif tag in ("textarea", "select"):
            self.open = name
            self.values[name] = ""
        elif tag == "option" and self.open and "selected" in given:
            self.values[self.open] = given.get("value") or ""

    def handle_data(self, data: str) -> None:
        if self.open and self.lasttag == "textarea":
            self.values[self.open] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.open:  # HTML drops the first line end, and a form is sent with CR LF
            text = self.values[self.open].replace("\r\n", "\n").removeprefix("\n")
            self.values[self.open] = text.replace("\n", "\r\n")
        if tag in ("textarea", "select"):
            self.open = None


@pytest.fixture
def editor_client(db: None, client: Client) -> Client:  # noqa: ARG001
    """Return a client in which an editor is logged in."""
    client.force_login(make_user(Role.EDITOR))
    return client


def get_change_url(post: Post) -> str:
    return reverse("admin:blog_post_change", args=[post.pk])


def submit_form(editor_client: Client, url: str, **edits: str) -> Any:
    """Get the form at a URL and submit it with the edits."""
    return editor_client.post(url, {**Form(editor_client.get(url).content.decode()).values, **edits})


def get_form_errors(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def read_row(post: Post) -> Any:
    return Post.objects.values().get(pk=post.pk)


def test_editor_sees_the_blog_app_only(editor_client: Client) -> None:
    index = editor_client.get(reverse("admin:index"))

    apps = {app["app_label"]: {model["object_name"] for model in app["models"]} for app in index.context["app_list"]}
    assert apps == {"blog": {"Author", "Comment", "Post"}}


@pytest.mark.parametrize("address", ["users_user_changelist", "users_user_add", "users_apikey_changelist"])
def test_editor_gets_403_for_users_and_api_keys(editor_client: Client, address: str) -> None:
    assert editor_client.get(reverse(f"admin:{address}")).status_code == 403


@pytest.mark.django_db
def test_admin_sees_the_users_app_too(client: Client) -> None:
    client.force_login(make_user(Role.ADMIN))

    labels = {app["app_label"] for app in client.get(reverse("admin:index")).context["app_list"]}

    assert {"blog", "users"} <= labels


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values", [{"role": Role.READER}, {"role": Role.AUTHOR}, {"role": Role.ADMIN, "is_active": False}]
)
@pytest.mark.parametrize("url", [reverse("admin:index"), reverse("admin:blog_post_changelist"), ADD])
def test_user_without_staff_access_is_redirected_to_the_login_page(
    client: Client, values: dict[str, Any], url: str
) -> None:
    client.force_login(make_user(**values))

    response = client.get(url)

    assert (response.status_code, response.headers["Location"]) == (302, f"{reverse('admin:login')}?next={url}")


@pytest.mark.parametrize("model", MODELS)
def test_every_list_page_can_be_searched(editor_client: Client, model: type[Post | Author | Comment]) -> None:
    make_comment(make_post(title="Needle", author=make_author(name="Needle")), body="Needle")
    make_comment(make_post())
    url = reverse(f"admin:blog_{model._meta.model_name}_changelist")

    pages = [
        editor_client.get(url),
        editor_client.get(url, {"q": "needle"}),
        editor_client.get(url, {"q": "nothing like it"}),
    ]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert [page.context["cl"].result_count for page in pages] == [2, 1, 0]


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_an_add_page_and_a_change_page(
    editor_client: Client, model: type[Post | Author | Comment]
) -> None:
    make_comment(make_post())
    name = model._meta.model_name

    pages = [
        editor_client.get(reverse(f"admin:blog_{name}_add")),
        editor_client.get(reverse(f"admin:blog_{name}_change", args=[model.objects.get().pk])),
    ]

    assert [page.status_code for page in pages] == [200, 200]


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
    assert after == {**before, "title": "New", "body": "One\n\ntwo\n", "tags": ["b", "c"], "version": 2}


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
    kept = Form(response.content.decode()).values
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
    opened = Form(editor_client.get(get_change_url(post)).content.decode()).values
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
    opened = Form(browsers[0].get(get_change_url(post)).content.decode()).values

    responses = race(
        lambda: Post.objects.select_for_update().get(),
        partial(browsers[0].post, get_change_url(post), opened | {"title": "First"}),
        partial(browsers[1].post, get_change_url(post), opened | {"title": "Second"}),
    )

    saved, refused = sorted(responses, key=lambda response: -response.status_code)
    assert (saved.status_code, refused.status_code) == (302, 200)
    assert get_form_errors(refused) == {"__all__": [CHANGED_MEANWHILE]}
    assert CHANGED_MEANWHILE in refused.text
    kept = Form(refused.text).values["title"]
    assert {kept, Post.objects.get(version=2).title} == {"First", "Second"}


def test_editor_adds_changes_and_deletes_an_author(editor_client: Client) -> None:
    added = submit_form(editor_client, reverse("admin:blog_author_add"), name="Ines")
    author = Author.objects.get(name="Ines")
    page = reverse("admin:blog_author_change", args=[author.pk])

    changed, refused = (
        submit_form(editor_client, page, name="Jo", bio="Baker."),
        submit_form(editor_client, page, avatar_url="no address"),
    )
    kept = Author.objects.values("name", "bio", "avatar_url").get(pk=author.pk)
    deleted = editor_client.post(reverse("admin:blog_author_delete", args=[author.pk]), {"post": "yes"})

    assert [added.status_code, changed.status_code, refused.status_code, deleted.status_code] == [302, 302, 200, 302]
    assert kept == {"name": "Jo", "bio": "Baker.", "avatar_url": ""}
    assert not Author.objects.filter(pk=author.pk).exists()


def test_editor_adds_changes_and_deletes_a_comment(editor_client: Client) -> None:
    post, author = make_post(), make_author()
    values = {"post": str(post.pk), "author": str(author.pk), "body": "Hear!"}
    added = editor_client.post(reverse("admin:blog_comment_add"), values)
    comment = Comment.objects.get()
    assert (added.status_code, comment.post, comment.author, comment.body) == (302, post, author, "Hear!")

    changed = submit_form(editor_client, reverse("admin:blog_comment_change", args=[comment.pk]), body="Well said.")
    assert (changed.status_code, Comment.objects.get().body) == (302, "Well said.")

    deleted = editor_client.post(reverse("admin:blog_comment_delete", args=[comment.pk]), {"post": "yes"})
    assert (deleted.status_code, Comment.objects.exists()) == (302, False)


@pytest.mark.parametrize(("model", "service"), [(Post, "delete_post"), (Comment, "delete_comment")])
def test_bulk_deletion_calls_the_service_for_each_row(
    editor_client: Client, monkeypatch: pytest.MonkeyPatch, model: type[Post | Comment], service: str
) -> None:
    for _ in range(2):
        make_comment(make_post())
    delete = Mock(side_effect=getattr(services, service))
    monkeypatch.setattr(services, service, delete)
    url = reverse(f"admin:blog_{model._meta.model_name}_changelist")
    selected = [row.pk for row in model.objects.all()]

    response = editor_client.post(url, {"action": "delete_selected", "_selected_action": selected, "post": "yes"})

    assert (response.status_code, delete.call_count, model.objects.exists()) == (302, 2, False)


def test_bulk_deletion_refused_by_a_service_deletes_nothing(
    editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = make_post().pk
    posts = [make_post().pk, refused]
    delete = services.delete_post

    def refuse_one_deletion(*, actor: Actor, post_id: str) -> str:
        if post_id == str(refused):
            raise Forbidden("You may not delete this post.")
        return delete(actor=actor, post_id=post_id)

    monkeypatch.setattr(services, "delete_post", refuse_one_deletion)
    url = reverse("admin:blog_post_changelist")

    response = editor_client.post(
        url, {"action": "delete_selected", "_selected_action": posts, "post": "yes"}, follow=True
    )

    assert "You may not delete this post." in response.text
    assert Post.objects.count() == 2


@pytest.mark.django_db
def test_author_with_posts_cannot_be_deleted() -> None:
    author = make_post().author

    with pytest.raises(Conflict) as refusal:
        services.delete_author(actor=OPERATOR, author_id=str(author.pk))

    assert refusal.value.message == f"{author.name} has posts. Delete them first."
    assert Author.objects.filter(pk=author.pk).exists()


@pytest.mark.parametrize("address", ["/admin/users/user/", "/admin/nothing/"])
def test_error_on_an_admin_page_is_html(editor_client: Client, address: str) -> None:
    response = editor_client.get(address)

    assert response.status_code in (403, 404)
    assert response["Content-Type"] == "text/html; charset=utf-8"


def test_api_error_outside_of_a_form_is_an_html_page(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_not_found(*_: Any, **__: Any) -> None:
        raise NotFound("There is no post with this id.")

    monkeypatch.setattr(admin.ModelAdmin, "get_object", raise_not_found)

    response = editor_client.get(reverse("admin:blog_post_history", args=[make_post().pk]))

    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "There is no post with this id." in response.text
