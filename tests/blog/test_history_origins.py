"""The history of posts: each way of changing a post, with the person and the credential that it names."""

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from blog import background, services
from blog.models import Post, PostStatus
from contentapi.core.errors import Conflict
from contentapi.core.identity import OPERATOR, Role
from contentapi.db.statements import execute
from tests.blog.post_versions import edit, get_name, get_newest, list_versions
from tests.conftest import make_api_key
from tests.factories import make_actor, make_post, make_user
from users import tokens

JSON = "application/json"


def send_graphql(client: Client, headers: dict[str, str], query: str) -> None:
    response = client.post("/graphql", {"query": query}, content_type=JSON, headers=headers)
    assert "errors" not in response.json()


def send_patch(client: Client, headers: dict[str, str], post: Post, values: dict[str, str]) -> None:
    assert client.patch(f"/posts/{post.pk}", values, content_type=JSON, headers=headers).status_code == 200


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


def test_change_over_rest_names_the_user_and_the_oauth_client(client: Client) -> None:
    post, user = make_post(body="Old."), make_user(Role.EDITOR)
    token = tokens.issue_token(user=user, client_id="reader-app")

    send_patch(client, {"Authorization": f"Bearer {token}"}, post, {"body": "New."})

    newest = get_newest(post)
    assert newest.changed_fields == ["body"]
    assert (newest.made.person, newest.made.origin) == (user.name, "REST, token of reader-app")


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
def test_worker_publishes_a_version_of_its_own() -> None:
    post = make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))

    background.publish_due(Event())

    newest = get_newest(post)
    assert newest.changed_fields == ["status", "publish_at", "published_at"]
    assert (newest.made.person, newest.made.origin) == ("", "worker")


def save_in_the_shell(post: Post) -> None:
    post = Post.objects.get(pk=post.pk)
    post.title = "New"
    post.save()


def update_in_the_shell(post: Post) -> None:
    Post.objects.filter(pk=post.pk).update(title="New")


def update_in_sql(post: Post) -> None:
    execute("UPDATE blog_post SET title = 'New' WHERE id = %s", [post.pk])


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
