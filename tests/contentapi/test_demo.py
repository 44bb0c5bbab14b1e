"""The demo: complete after the first load, unchanged by the second, with valid credentials."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import transaction
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker, Settings

from blog.models import Comment, Image, Post
from blog.rendering import RENDERER
from contentapi import demo
from contentapi.media.folder import FolderStorage
from orders.models import Order
from tests.graphql_requests import post_to_graphql
from users.models import ApiKey, User

DRAFTS = {"query": "{ posts(status: draft) { title } }"}
BLOG = ("blog.Author", "blog.Post", "blog.PostSource", "blog.Image", "blog.Comment")
MODELS = ("users.User", "users.ApiKey", *BLOG, "orders.Order")

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def loaded(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Load the demo once for all tests of this module. Return the folder of its files."""
    folder = tmp_path_factory.mktemp("demo")
    environment = msgspec.structs.replace(django_settings.ENVIRONMENT, contentapi_media=str(folder / "media"))
    settings_of_demo, patches = override_settings(ENVIRONMENT=environment), pytest.MonkeyPatch.context()
    with django_db_blocker.unblock(), settings_of_demo, patches as patch, transaction.atomic():
        place_credentials(patch, folder)
        demo.load_demo()
        yield folder
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def files(loaded: Path, db: None, media: FolderStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # noqa: ARG001
    """Give a test a copy of the files of the demo."""
    shutil.copytree(loaded, tmp_path, dirs_exist_ok=True)
    place_credentials(monkeypatch, tmp_path)


def place_credentials(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setattr(demo, "PASSWORD_FILE", folder / "demo_password")
    patch.setattr(demo, "API_KEY_FILE", folder / "demo_api_key")


def snapshot() -> dict[str, list[dict[str, Any]]]:
    """Return all rows of the models of the demo, without the time of the last use of a key."""
    rows = {name: list(apps.get_model(name).objects.order_by("pk").values()) for name in MODELS}
    for key in rows["users.ApiKey"]:
        del key["last_used_at"]
    return rows


def count_drafts(key: str) -> int:
    response = post_to_graphql(DRAFTS, X_API_Key=key)
    return len(response.data["posts"])


def test_demo_has_users_posts_comments_and_orders() -> None:
    assert {user.email: user.role for user in User.objects.all()} == {
        "admin@example.com": "admin",
        "editor@example.com": "editor",
        "author@example.com": "author",
        "reader@example.com": "reader",
    }
    assert Post.objects.count() == len(list(demo.POSTS.glob("*.md")))
    assert set(Post.objects.values_list("status", flat=True)) >= {"draft", "published"}
    assert Comment.objects.count() == sum(map(len, demo.COMMENTS.values()))
    assert sorted(Order.objects.values_list("total", "user__email")) == [
        (total, "reader@example.com") for total in sorted(demo.TOTALS)
    ]


def test_posts_of_the_demo_have_covers_and_images_with_texts(media: FolderStorage) -> None:
    images = {image.name: image for image in Image.objects.all()}
    covers = Post.objects.exclude(cover_id=None).values_list("slug", "cover_id")
    assert dict(covers) == {
        "how-we-name-our-boats": images["boats.webp"].pk,
        "what-the-storm-brought": images["storm.webp"].pk,
        "a-lamp-from-1884": images["lighthouse.jpg"].pk,
        "the-harbour-wakes-early": images["harbour.webp"].pk,
    }
    inline = Post.objects.exclude(image_ids=None).values_list("slug", "image_ids")
    assert dict(inline) == {
        "the-harbour-wakes-early": [images["boats.webp"].pk],
        "reading-a-tide-table": [images["tide.png"].pk],
    }
    assert {name: image.alt for name, image in images.items()} == demo.IMAGES
    assert {file.name for file in media.list_files()} == {image.source for image in images.values()}


def test_load_lets_posts_with_addresses_of_another_port_be_rendered(settings: Settings) -> None:
    post = Post.objects.get(slug="reading-a-tide-table")
    for port, renderer in ((settings.ENVIRONMENT.port, RENDERER), (8999, 0)):
        html = f'<img srcset="http://localhost:{port}/media/1-a/320.webp 320w">'
        Post.objects.filter(pk=post.pk).update(body_html=html, renderer=RENDERER)

        demo.load_demo()

        assert Post.objects.get(pk=post.pk).renderer == renderer


def test_second_load_changes_nothing() -> None:
    before = snapshot()
    key, password = demo.API_KEY_FILE.read_text(), demo.PASSWORD_FILE.read_text()

    demo.load_demo()

    assert snapshot() == before
    assert (demo.API_KEY_FILE.read_text(), demo.PASSWORD_FILE.read_text()) == (key, password)


def test_load_keeps_changes_of_the_user() -> None:
    Post.objects.update(title="Changed", version=2)
    User.objects.update(name="Changed")
    Order.objects.update(status="paid")
    before = snapshot()

    demo.load_demo()

    assert snapshot() == before


def test_key_and_password_are_valid_and_private() -> None:
    browser = Client()

    logged_in = browser.login(username="ADMIN@example.com", password=demo.PASSWORD_FILE.read_text())

    assert logged_in
    assert browser.get("/admin/").status_code == 200
    assert count_drafts(demo.API_KEY_FILE.read_text()) == Post.objects.filter(status="draft").count() > 0
    assert [path.stat().st_mode & 0o777 for path in (demo.API_KEY_FILE, demo.PASSWORD_FILE)] == [0o600, 0o600]


def delete_row() -> None:
    ApiKey.objects.all().delete()


def revoke_key() -> None:
    ApiKey.objects.update(revoked_at="2026-11-21T00:00Z")


def delete_file() -> None:
    demo.API_KEY_FILE.unlink()


def overwrite_file() -> None:
    demo.API_KEY_FILE.write_text("capi_")


@pytest.mark.parametrize("lose_key", [delete_row, revoke_key, delete_file, overwrite_file])
def test_lost_key_is_replaced_by_a_valid_one(lose_key: Any) -> None:
    old = demo.API_KEY_FILE.read_text()

    lose_key()
    demo.load_demo()

    new = demo.API_KEY_FILE.read_text()
    assert new != old
    assert count_drafts(new) > 0


def test_changed_password_is_set_again() -> None:
    User.objects.update(password="!")

    demo.load_demo()

    assert User.objects.with_email(demo.ADMIN).get().check_password(demo.PASSWORD_FILE.read_text())


def test_greeting_has_addresses_credentials_and_a_query() -> None:
    greeting = demo.build_greeting()

    assert demo.API_KEY_FILE.read_text() in greeting
    assert f"log in as {demo.ADMIN} with {demo.PASSWORD_FILE.read_text()}\n" in greeting
    assert "/docs\n" in greeting
    assert demo.FIRST_QUERY in greeting
    assert len(post_to_graphql({"query": demo.FIRST_QUERY}).data["posts"]) == 2


def test_command_loads_the_demo_and_prints_no_secret() -> None:
    out, err = io.StringIO(), io.StringIO()

    call_command("load_demo", stdout=out, stderr=err)

    assert Post.objects.exists()
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    assert demo.API_KEY_FILE.read_text() not in err.getvalue()
    assert demo.PASSWORD_FILE.read_text() not in err.getvalue()
