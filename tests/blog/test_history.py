"""The history of posts: each way of changing a post, versions, differences, and restoring a version."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog import history, services
from blog.history import Version
from blog.models import Author, Post, PostStatus, PostVersion
from contentapi import clock, demo
from contentapi.core.errors import Conflict, Forbidden, NotFound, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.admin_forms import submit_form
from tests.blog.racing import race
from tests.conftest import make_api_key
from tests.factories import make_actor, make_author, make_post, make_user
from users import tokens
from users.models import User

JSON = "application/json"


def list_versions(post: Post, actor: Actor = OPERATOR) -> list[Version]:
    return history.list_versions(actor=actor, post_id=str(post.pk)).versions


def get_newest(post: Post) -> Version:
    return list_versions(post)[0]


def get_name(actor: Actor) -> str:
    return User.objects.get(pk=actor.user_id or 0).name


def edit(post: Post, actor: Actor = OPERATOR, **changes: Any) -> Post:
    return services.edit_post(actor=actor, post_id=str(post.pk), changes=changes)


# Each way of changing a post, with the person and the credential that the history shows.


def send_graphql(client: Client, headers: dict[str, str], query: str) -> None:
    response = client.post("/graphql", {"query": query}, content_type=JSON, headers=headers)
    assert "errors" not in response.json()


def send_patch(client: Client, headers: dict[str, str], post: Post, values: dict[str, str]) -> None:
    assert client.patch(f"/posts/{post.pk}", values, content_type=JSON, headers=headers).status_code == 200


@pytest.mark.django_db
def test_change_over_graphql_names_the_user_and_the_api_key(client: Client) -> None:
    post, actor = make_post(title="Old"), make_actor(Role.EDITOR)
    key = make_api_key(actor)

    send_graphql(
        client, {"X-API-Key": key}, f'mutation {{ updatePost(input: {{id: "{post.pk}", title: "New"}}) {{ id }} }}'
    )

    newest = get_newest(post)
    person = get_name(actor)
    assert (newest.number, newest.values["title"], newest.changed_fields) == (2, "New", ["title"])
    assert (newest.made.person, newest.made.origin) == (person, f"GraphQL, API key {key.rpartition('_')[0]}")


@pytest.mark.django_db
def test_creation_over_graphql_names_the_user_and_the_token(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    headers = {"Authorization": f"Bearer {tokens.issue_token(user=user)}"}

    send_graphql(client, headers, 'mutation { createPost(input: {title: "Soup", body: ""}) { id } }')

    (version,) = list_versions(Post.objects.get())
    assert (version.number, version.is_present, version.changed_fields) == (1, True, None)
    assert (version.made.person, version.made.origin) == (user.name, "GraphQL, token")


@pytest.mark.django_db
def test_change_over_rest_names_the_user_and_the_oauth_client(client: Client) -> None:
    post, user = make_post(body="Old."), make_user(Role.EDITOR)
    token = tokens.issue_token(user=user, client_id="reader-app")

    send_patch(client, {"Authorization": f"Bearer {token}"}, post, {"body": "New."})

    newest = get_newest(post)
    assert newest.changed_fields == ["body"]
    assert (newest.made.person, newest.made.origin) == (user.name, "REST, token of reader-app")


@pytest.mark.django_db
def test_creation_over_rest_names_the_user_and_the_api_key(client: Client) -> None:
    actor = make_actor(Role.AUTHOR)
    key = make_api_key(actor)

    response = client.post("/posts", {"title": "Soup", "body": ""}, content_type=JSON, headers={"X-API-Key": key})

    assert response.status_code == 201
    origin = Post.objects.values_list("changed_by", "changed_with").get()
    assert origin == (actor.user_id, f"REST, API key {key.rpartition('_')[0]}")


def test_change_in_the_admin_names_the_editor(editor_client: Client) -> None:
    post = make_post(title="Old", body="Text.")

    submit_form(editor_client, reverse("admin:blog_post_change", args=[post.pk]), title="New", body="Text.\r\nMore.")

    newest = get_newest(post)
    editor = User.objects.get(pk=editor_client.session["_auth_user_id"])
    assert newest.changed_fields == ["title", "body"]
    assert (newest.made.person, newest.made.origin) == (editor.name, "admin")


@pytest.mark.django_db
def test_import_and_second_import_of_a_changed_file_are_versions(tmp_path: Path) -> None:
    file = tmp_path / "soup.md"
    times = []
    for text in ("Hot.", "Cold."):
        file.write_text(f"---\ntitle: Soup\ndate: 2020-01-01\nupdated: 2020-01-02\n---\n{text}\n")
        times.append(timezone.now())
        call_command("import_posts", str(tmp_path), stderr=io.StringIO())

    newest, first = list_versions(Post.objects.get())
    assert (newest.number, newest.changed_fields, newest.made.origin) == (2, ["body"], "import")
    assert (first.number, first.values["title"], first.made.origin) == (1, "Soup", "import")
    assert times[0] <= first.made.at <= times[1] <= newest.made.at <= timezone.now()


@pytest.mark.django_db(transaction=True)
def test_clock_publishes_a_version_of_its_own() -> None:
    post = make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))

    clock.do_due_work(Event())

    newest = get_newest(post)
    assert newest.changed_fields == ["status", "publish_at", "published_at"]
    assert (newest.made.person, newest.made.origin) == ("", "clock")


@pytest.mark.django_db
def test_publish_due_on_the_command_line_is_a_version() -> None:
    post = make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))

    call_command("publish_due", stdout=io.StringIO(), stderr=io.StringIO())

    assert (get_newest(post).number, get_newest(post).made.origin) == (2, "command line")


@pytest.mark.django_db
def test_post_of_the_demo_names_the_demo() -> None:
    demo.load_content()

    assert {get_newest(post).made.origin for post in Post.objects.all()} == {"demo"}


def save_in_the_shell(post: Post) -> None:
    post = Post.objects.get(pk=post.pk)
    post.title = "New"
    post.save()


def update_in_the_shell(post: Post) -> None:
    Post.objects.filter(pk=post.pk).update(title="New")


def update_in_sql(post: Post) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE blog_post SET title = 'New' WHERE id = %s", [post.pk])


@pytest.mark.django_db
@pytest.mark.parametrize("change", [save_in_the_shell, update_in_the_shell, update_in_sql])
def test_change_in_the_database_is_a_version_that_names_nobody(change: Callable[[Post], None]) -> None:
    actor = make_actor(Role.EDITOR)
    post = edit(make_post(title="First"), actor, title="Old")

    change(post)

    newest, older, _ = list_versions(post)
    assert (newest.number, newest.values["title"], newest.changed_fields) == (3, "New", ["title"])
    assert (newest.made.person, newest.made.origin) == ("", "database")
    assert older.made.person == get_name(actor)
    assert newest.values["updated_at"] >= older.made.at
    with pytest.raises(Conflict):  # the version that a client has read is not the present one
        services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "X"}, expected_version="2")


@pytest.mark.django_db
def test_insertion_in_sql_names_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO blog_post (title, body, status, author_id, tags, created_at, updated_at, version)"
            " VALUES ('Soup', '', 'draft', %s, '{}', now(), now(), 1)",
            [make_author().pk],
        )

    (version,) = list_versions(Post.objects.get())
    assert (version.made.person, version.made.origin) == ("", "database")


# Versions


@pytest.mark.django_db
def test_history_has_every_version_with_its_text_newest_first() -> None:
    post = make_post(title="One", tags=["a"])
    edit(post, title="Two")
    edit(post, tags=["b"], body="More.")
    edit(post, status="archived")

    versions = list_versions(post)

    assert [(version.number, version.changed_fields) for version in versions] == [
        (4, ["status"]),
        (3, ["body", "tags"]),
        (2, ["title"]),
        (1, None),
    ]
    read = [history.read_version(actor=OPERATOR, post_id=str(post.pk), number=number) for number in (1, 2, 3, 4)]
    assert [version.values["title"] for version in read] == ["One", "Two", "Two", "Two"]
    assert [version.values["body"] for version in read] == ["Text.", "Text.", "More.", "More."]
    assert [version.is_present for version in read] == [False, False, False, True]


@pytest.mark.django_db
def test_edit_that_changes_nothing_is_no_version() -> None:
    post = make_post(title="Same")

    edit(post, title="Same ")
    Post.objects.filter(pk=post.pk).update(title="Same")

    assert [version.number for version in list_versions(post)] == [1]


@pytest.mark.django_db
def test_pages_of_a_history_have_each_version_once() -> None:
    post = make_post(title="1")
    for number in range(2, 8):
        edit(post, title=str(number))

    numbers: list[int] = []
    before: int | None = None
    while before != 0:
        page = history.list_versions(actor=OPERATOR, post_id=str(post.pk), before=before, limit=3)
        numbers += [version.number for version in page.versions]
        assert [version.changed_fields for version in page.versions if version.number > 1] == [["title"]] * sum(
            version.number > 1 for version in page.versions
        )
        before = page.next_before or 0

    assert numbers == [7, 6, 5, 4, 3, 2, 1]


@pytest.mark.django_db
def test_page_of_a_history_executes_a_constant_number_of_statements(django_assert_num_queries: Any) -> None:
    post = make_post()
    for number in range(20):
        edit(post, make_actor(Role.EDITOR), body=str(number))

    with django_assert_num_queries(4):  # the post with its author, its row, the versions, the users
        list_versions(post)


@pytest.mark.django_db
def test_version_of_a_deleted_user_keeps_the_id_of_the_user() -> None:
    actor = make_actor(Role.EDITOR)
    post = edit(make_post(), actor, title="New")

    User.objects.filter(pk=actor.user_id or 0).delete()

    assert get_newest(post).made.person == f"deleted user {actor.user_id}"


@pytest.mark.django_db
def test_unknown_version_is_not_found() -> None:
    with pytest.raises(NotFound) as refusal:
        history.read_version(actor=OPERATOR, post_id=str(make_post().pk), number=2)

    assert refusal.value.message == "This post has no version 2."


@pytest.mark.django_db
def test_comparison_has_the_changed_fields_and_the_lines_of_the_text() -> None:
    ines, jo = make_author(name="Ines"), make_author(name="Jo")
    post = make_post(title="Old", body="One\ntwo\n", tags=["a"], author=ines)
    edit(post, title="New", body="One\n2\n", tags=["a", "b"])
    Post.objects.filter(pk=post.pk).update(author=jo)

    comparison = history.compare_versions(actor=OPERATOR, post_id=str(post.pk), old=1, new=3)

    assert comparison.fields == [("title", "Old", "New"), ("tags", ["a"], ["a", "b"]), ("author", "Ines", "Jo")]
    assert [(line.kind, line.text) for line in comparison.body] == [
        ("same", "One\n"),
        ("removed", "two\n"),
        ("added", "2\n"),
    ]


# Permissions


@pytest.mark.django_db
def test_author_sees_and_restores_the_history_of_their_own_posts_only() -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author)
    own, other = edit(make_post(author=author), body="New."), edit(make_post(), body="New.")

    assert [version.number for version in list_versions(own, actor)] == [2, 1]
    assert history.restore_version(actor=actor, post_id=str(own.pk), number=1).body == "Text."
    with pytest.raises(Forbidden):
        list_versions(other, actor)
    with pytest.raises(Forbidden):
        history.restore_version(actor=actor, post_id=str(other.pk), number=1)


@pytest.mark.django_db
def test_history_needs_a_credential_and_the_scopes_to_read_and_write() -> None:
    author = make_author()
    post = make_post(author=author)
    owner = make_actor(Role.AUTHOR, author=author)

    with pytest.raises(Unauthenticated):
        list_versions(post, ANONYMOUS)
    with pytest.raises(Forbidden):
        list_versions(post, make_actor(Role.READER))
    for scope in (Scope.POSTS_READ, Scope.POSTS_WRITE):
        with pytest.raises(Forbidden):
            list_versions(post, Actor(owner.user_id, Role.AUTHOR, ALL_SCOPES - {scope}))


@pytest.mark.django_db
def test_history_of_a_hidden_post_is_not_found() -> None:
    with pytest.raises(NotFound):
        list_versions(make_post(status="draft"), make_actor(Role.AUTHOR))


# Restoring a version


@pytest.mark.django_db
def test_restored_version_is_a_new_version_with_the_old_text() -> None:
    post = make_post(title="Old", body="Old.", tags=["old"], status="draft")
    edit(post, title="New", body="New.", tags=[], status="published")
    actor = make_actor(Role.EDITOR).through("admin")

    restored = history.restore_version(actor=actor, post_id=str(post.pk), number=1, expected_version="2")

    assert (restored.version, restored.title, restored.body, restored.tags) == (3, "Old", "Old.", ["old"])
    assert restored.status == "published"
    newest, replaced, _ = list_versions(post)
    assert (newest.number, newest.changed_fields) == (3, ["title", "body", "tags"])
    assert newest.made.person == get_name(actor)
    assert (replaced.number, replaced.values["title"]) == (2, "New")


@pytest.mark.django_db
def test_restore_after_another_change_raises_conflict() -> None:
    post = make_post(title="Old")
    edit(post, title="New")
    edit(post, title="Newer")

    with pytest.raises(Conflict):
        history.restore_version(actor=OPERATOR, post_id=str(post.pk), number=1, expected_version="2")

    assert Post.objects.get().title == "Newer"


@pytest.mark.django_db
def test_restore_of_an_equal_text_is_no_version() -> None:
    post = make_post()
    edit(post, status="archived")

    assert history.restore_version(actor=OPERATOR, post_id=str(post.pk), number=1).version == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_edits_are_two_versions_in_order() -> None:
    post = make_post(title="0")
    actors = [make_actor(Role.EDITOR), make_actor(Role.EDITOR)]

    race(
        lambda: Post.objects.select_for_update().get(),
        lambda: edit(post, actors[0], title="1"),
        lambda: edit(post, actors[1], body="2"),
    )

    newest, middle, first = list_versions(post)
    assert [version.number for version in (newest, middle, first)] == [3, 2, 1]
    assert {(*(newest.changed_fields or []), *(middle.changed_fields or []))} <= {("title", "body"), ("body", "title")}
    assert Post.objects.values_list("title", "body").get() == ("1", "2")


@pytest.mark.django_db
def test_deletion_of_an_author_leaves_the_history() -> None:
    post = make_post(author=make_author(name="Ines"))
    Post.objects.filter(pk=post.pk).update(author=make_author(name="Jo"))

    Author.objects.get(name="Ines").delete()

    comparison = history.compare_versions(actor=OPERATOR, post_id=str(post.pk), old=1, new=2)
    assert comparison.fields == [("author", "a deleted author", "Jo")]
    assert str(PostVersion.objects.get()) == f"{post.title}, version 1"
