"""The editors' desk, used as a browser does it: forms are sent back as they came, but for the edits."""

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
def desk(db: None, client: Client) -> Client:  # noqa: ARG001
    """A browser in which an editor is logged in."""
    client.force_login(make_user(Role.EDITOR))
    return client


def page_of(post: Post) -> str:
    return reverse("admin:blog_post_change", args=[post.pk])


def send(desk: Client, url: str, **edits: str) -> Any:
    """Get the form at the address and send it back with the edits."""
    return desk.post(url, {**Form(desk.get(url).content.decode()).values, **edits})


def errors_of(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def row(post: Post) -> Any:
    return Post.objects.values().get(pk=post.pk)


def test_an_editor_sees_the_blog_and_own_keys(desk: Client) -> None:
    index = desk.get(reverse("admin:index"))

    apps = {app["app_label"]: {model["object_name"] for model in app["models"]} for app in index.context["app_list"]}
    assert apps == {"blog": {"Author", "Comment", "Post"}, "users": {"ApiKey"}}


@pytest.mark.parametrize("address", ["users_user_changelist", "users_user_add"])
def test_an_editor_is_refused_the_users(desk: Client, address: str) -> None:
    assert desk.get(reverse(f"admin:{address}")).status_code == 403


@pytest.mark.django_db
def test_an_admin_sees_the_users_too(client: Client) -> None:
    client.force_login(make_user(Role.ADMIN))

    labels = {app["app_label"] for app in client.get(reverse("admin:index")).context["app_list"]}

    assert {"blog", "users"} <= labels


@pytest.mark.django_db
@pytest.mark.parametrize("values", [{"role": Role.READER}, {"role": Role.ADMIN, "is_active": False}])
@pytest.mark.parametrize("url", [reverse("admin:index"), reverse("admin:blog_post_changelist"), ADD])
def test_a_reader_and_a_locked_admin_are_shown_the_login(client: Client, values: dict[str, Any], url: str) -> None:
    client.force_login(make_user(**values))

    response = client.get(url)

    assert (response.status_code, response.headers["Location"]) == (302, f"{reverse('admin:login')}?next={url}")


@pytest.mark.parametrize("model", MODELS)
def test_every_list_is_shown_and_searched(desk: Client, model: type[Post | Author | Comment]) -> None:
    make_comment(make_post(title="Needle", author=make_author(name="Needle")), body="Needle")
    make_comment(make_post())
    url = reverse(f"admin:blog_{model._meta.model_name}_changelist")

    pages = [desk.get(url), desk.get(url, {"q": "needle"}), desk.get(url, {"q": "nothing like it"})]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert [page.context["cl"].result_count for page in pages] == [2, 1, 0]


@pytest.mark.parametrize("model", MODELS)
def test_every_object_has_its_page_and_every_model_its_empty_form(
    desk: Client, model: type[Post | Author | Comment]
) -> None:
    make_comment(make_post())
    name = model._meta.model_name

    pages = [
        desk.get(reverse(f"admin:blog_{name}_add")),
        desk.get(reverse(f"admin:blog_{name}_change", args=[model.objects.get().pk])),
    ]

    assert [page.status_code for page in pages] == [200, 200]


@pytest.mark.parametrize(("status", "day"), [("draft", ""), ("published", ""), ("scheduled", "2100-01-01")])
def test_a_post_that_is_added_is_stored_as_the_service_stores_it(desk: Client, status: str, day: str) -> None:
    author = make_author()
    time = "12:30:00" if day else ""
    text = {"title": " Soup ", "body": "One\r\ntwo ", "tags": "hot\r\n very cheap \r\n\r\n", "author": str(author.pk)}

    response = send(desk, ADD, **text, status=status, publish_at_0=day, publish_at_1=time)

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
def test_a_post_against_a_rule_is_refused_in_the_form(desk: Client, edits: dict[str, str], fields: set[str]) -> None:
    valid = {"title": "Soup", "author": str(make_author().pk)}

    response = send(desk, ADD, **{**valid, **edits})

    assert response.status_code == 200
    assert set(errors_of(response)) == fields
    assert not Post.objects.exists()


def test_a_changed_text_is_stored_with_plain_line_ends_and_a_new_version(desk: Client) -> None:
    post = make_post(title="Old", body="Old.", tags=["a"], updated_at=PAST)
    before = row(post)

    send(desk, page_of(post), title=" New ", body="One\r\n\r\ntwo\r\n", tags="b\r\nc")

    after = row(post)
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
def test_a_form_that_is_saved_as_it_came_changes_nothing(desk: Client, values: dict[str, Any]) -> None:
    post = make_post(**{"updated_at": PAST, **values})
    PostSource.objects.create(post=post, path="a.md", digest=b"1", authors=["Ines", "Jo"], status="published")
    before = row(post)

    response = send(desk, page_of(post))

    assert response.status_code == 302, errors_of(response)
    assert row(post) == before
    assert PostSource.objects.values("path", "authors", "status").get() == {
        "path": "a.md",
        "authors": ["Ines", "Jo"],
        "status": "published",
    }


def test_one_save_of_text_and_status_increments_the_version_once(desk: Client) -> None:
    post = make_post(status="draft", title="Old")

    send(desk, page_of(post), status="published", title="New")

    saved = {"status": "published", "title": "New", "version": 2}
    assert Post.objects.values(*saved).get() == saved


def test_an_illegal_move_is_refused_in_the_form_which_keeps_the_text(desk: Client) -> None:
    post = make_post(status="archived", updated_at=PAST)
    before = row(post)

    response = send(desk, page_of(post), status="published", title="New", body="My evening's work")

    assert errors_of(response) == {"status": ["A post that is archived cannot become published."]}
    kept = Form(response.content.decode()).values
    assert (kept["title"], kept["body"], kept["status"]) == ("New", "My evening's work", "published")
    assert row(post) == before


def test_another_time_for_a_scheduled_post_is_refused_and_not_lost_in_silence(desk: Client) -> None:
    post = make_post(status="scheduled", publish_at=LATER)
    before = row(post)

    response = send(desk, page_of(post), publish_at_0="2101-01-01", title="New")

    assert response.status_code == 200
    assert errors_of(response) == {"status": ["A post that is scheduled cannot become scheduled."]}
    assert row(post) == before


def test_a_form_that_was_opened_before_somebody_elses_change_is_refused(desk: Client) -> None:
    post = make_post(title="Old", status="draft")
    opened = Form(desk.get(page_of(post)).content.decode()).values
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"status": "published"})

    response = desk.post(page_of(post), opened | {"title": "New"})

    assert response.status_code == 200
    assert errors_of(response) == {"__all__": [CHANGED_MEANWHILE]}
    assert Post.objects.values("title", "status").get(pk=post.pk) == {"title": "Old", "status": "published"}


@pytest.mark.django_db(transaction=True)
def test_of_two_simultaneous_saves_of_one_form_the_second_is_refused() -> None:
    post, editor = make_post(title="Old"), make_user(Role.EDITOR)
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(editor)
    opened = Form(browsers[0].get(page_of(post)).content.decode()).values

    responses = race(
        lambda: Post.objects.select_for_update().get(),
        partial(browsers[0].post, page_of(post), opened | {"title": "First"}),
        partial(browsers[1].post, page_of(post), opened | {"title": "Second"}),
    )

    saved, refused = sorted(responses, key=lambda response: -response.status_code)
    assert (saved.status_code, refused.status_code) == (302, 200)
    assert errors_of(refused) == {"__all__": [CHANGED_MEANWHILE]}
    assert CHANGED_MEANWHILE in refused.text
    kept = Form(refused.text).values["title"]
    assert {kept, Post.objects.get(version=2).title} == {"First", "Second"}


def test_an_author_is_added_changed_and_deleted_by_an_editor(desk: Client) -> None:
    added = send(desk, reverse("admin:blog_author_add"), name="Ines")
    author = Author.objects.get(name="Ines")
    page = reverse("admin:blog_author_change", args=[author.pk])

    changed, refused = send(desk, page, name="Jo", bio="Baker."), send(desk, page, avatar_url="no address")
    kept = Author.objects.values("name", "bio", "avatar_url").get(pk=author.pk)
    deleted = desk.post(reverse("admin:blog_author_delete", args=[author.pk]), {"post": "yes"})

    assert [added.status_code, changed.status_code, refused.status_code, deleted.status_code] == [302, 302, 200, 302]
    assert kept == {"name": "Jo", "bio": "Baker.", "avatar_url": ""}
    assert not Author.objects.filter(pk=author.pk).exists()


def test_a_comment_is_added_changed_and_deleted_by_an_editor(desk: Client) -> None:
    post, author = make_post(), make_author()
    values = {"post": str(post.pk), "author": str(author.pk), "body": "Hear!"}
    added = desk.post(reverse("admin:blog_comment_add"), values)
    comment = Comment.objects.get()
    assert (added.status_code, comment.post, comment.author, comment.body) == (302, post, author, "Hear!")

    changed = send(desk, reverse("admin:blog_comment_change", args=[comment.pk]), body="Well said.")
    assert (changed.status_code, Comment.objects.get().body) == (302, "Well said.")

    deleted = desk.post(reverse("admin:blog_comment_delete", args=[comment.pk]), {"post": "yes"})
    assert (deleted.status_code, Comment.objects.exists()) == (302, False)


@pytest.mark.parametrize(("model", "service"), [(Post, "delete_post"), (Comment, "delete_comment")])
def test_the_bulk_action_deletes_each_row_by_its_service(
    desk: Client, monkeypatch: pytest.MonkeyPatch, model: type[Post | Comment], service: str
) -> None:
    for _ in range(2):
        make_comment(make_post())
    delete = Mock(side_effect=getattr(services, service))
    monkeypatch.setattr(services, service, delete)
    url = reverse(f"admin:blog_{model._meta.model_name}_changelist")
    selected = [row.pk for row in model.objects.all()]

    response = desk.post(url, {"action": "delete_selected", "_selected_action": selected, "post": "yes"})

    assert (response.status_code, delete.call_count, model.objects.exists()) == (302, 2, False)


def test_a_bulk_deletion_that_a_service_refuses_deletes_nothing_and_says_why(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = make_post().pk
    posts = [make_post().pk, refused]
    delete = services.delete_post

    def delete_most(*, actor: Actor, post_id: str) -> str:
        if post_id == str(refused):
            raise Forbidden("You may not delete this post.")
        return delete(actor=actor, post_id=post_id)

    monkeypatch.setattr(services, "delete_post", delete_most)
    url = reverse("admin:blog_post_changelist")

    response = desk.post(url, {"action": "delete_selected", "_selected_action": posts, "post": "yes"}, follow=True)

    assert "You may not delete this post." in response.text
    assert Post.objects.count() == 2


@pytest.mark.django_db
def test_an_author_with_posts_is_not_deleted() -> None:
    author = make_post().author

    with pytest.raises(Conflict) as refusal:
        services.delete_author(actor=OPERATOR, author_id=str(author.pk))

    assert refusal.value.message == f"{author.name} has posts. Delete them first."
    assert Author.objects.filter(pk=author.pk).exists()


@pytest.mark.parametrize("address", ["/admin/users/user/", "/admin/nothing/"])
def test_an_error_of_the_admin_site_is_a_page_and_not_json(desk: Client, address: str) -> None:
    response = desk.get(address)

    assert response.status_code in (403, 404)
    assert response["Content-Type"] == "text/html; charset=utf-8"


def test_an_api_error_that_no_form_shows_is_a_page(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NotFound("There is no post with this id.")

    monkeypatch.setattr(admin.ModelAdmin, "get_object", refuse)

    response = desk.get(reverse("admin:blog_post_history", args=[make_post().pk]))

    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "There is no post with this id." in response.text
