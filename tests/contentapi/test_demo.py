"""The demo: complete after the first load, untouched by the second, its credentials always good."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client

from blog.models import Comment, Post
from contentapi import demo
from orders.models import Order
from tests.graphql_requests import post_to_graphql
from users.models import ApiKey, User

DRAFTS = {"query": "{ posts(status: draft) { title } }"}
MODELS = ("users.User", "users.ApiKey", "blog.Author", "blog.Post", "blog.PostSource", "blog.Comment", "orders.Order")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def credentials_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "PASSWORD_FILE", tmp_path / "demo_password")
    monkeypatch.setattr(demo, "API_KEY_FILE", tmp_path / "demo_api_key")


def load() -> None:
    demo.load()
    demo.ensure_credentials()


def snapshot() -> dict[str, list[dict[str, Any]]]:
    """Return every row that the demo has a hand in. When the key was last used does not count."""
    rows = {name: list(apps.get_model(name).objects.order_by("pk").values()) for name in MODELS}
    for key in rows["users.ApiKey"]:
        del key["last_used_at"]
    return rows


def drafts_seen_with(key: str) -> int:
    answer = post_to_graphql(DRAFTS, X_API_Key=key)
    return len(answer.data["posts"])


def test_the_demo_holds_something_of_everything() -> None:
    load()

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


def test_loading_twice_changes_nothing() -> None:
    load()
    before = snapshot()
    key, password = demo.API_KEY_FILE.read_text(), demo.PASSWORD_FILE.read_text()

    load()

    assert snapshot() == before
    assert (demo.API_KEY_FILE.read_text(), demo.PASSWORD_FILE.read_text()) == (key, password)


def test_what_the_user_changed_stays_as_it_is() -> None:
    load()
    Post.objects.update(title="Changed", version=2)
    User.objects.update(name="Changed")
    Order.objects.update(status="paid")
    before = snapshot()

    load()

    assert snapshot() == before


def test_the_key_and_the_password_work_and_are_private() -> None:
    load()
    browser = Client()

    logged_in = browser.login(username="ADMIN@example.com", password=demo.PASSWORD_FILE.read_text())

    assert logged_in
    assert browser.get("/admin/").status_code == 200
    assert drafts_seen_with(demo.API_KEY_FILE.read_text()) == Post.objects.filter(status="draft").count() > 0
    assert [path.stat().st_mode & 0o777 for path in (demo.API_KEY_FILE, demo.PASSWORD_FILE)] == [0o600, 0o600]


def lose_the_row() -> None:
    ApiKey.objects.all().delete()


def revoke() -> None:
    ApiKey.objects.update(revoked_at="2026-11-21T00:00Z")


def lose_the_file() -> None:
    demo.API_KEY_FILE.unlink()


def spoil_the_file() -> None:
    demo.API_KEY_FILE.write_text("capi_")


@pytest.mark.parametrize("lose", [lose_the_row, revoke, lose_the_file, spoil_the_file])
def test_a_key_that_is_lost_is_replaced_by_one_that_works(lose: Any) -> None:
    load()
    old = demo.API_KEY_FILE.read_text()

    lose()
    load()

    new = demo.API_KEY_FILE.read_text()
    assert new != old
    assert drafts_seen_with(new) > 0


def test_a_password_that_was_lost_or_changed_is_made_good() -> None:
    load()
    User.objects.update(password="!")

    load()

    assert User.objects.with_email(demo.ADMIN).get().check_password(demo.PASSWORD_FILE.read_text())


def test_the_greeting_holds_what_one_needs_to_begin() -> None:
    load()

    greeting = demo.build_greeting()

    assert demo.API_KEY_FILE.read_text() in greeting
    assert f"log in as {demo.ADMIN} with {demo.PASSWORD_FILE.read_text()}\n" in greeting
    assert "/docs\n" in greeting
    assert demo.FIRST_QUERY in greeting
    assert len(post_to_graphql({"query": demo.FIRST_QUERY}).data["posts"]) == 2


def test_the_command_loads_the_demo_and_shows_no_secret() -> None:
    out, err = io.StringIO(), io.StringIO()

    call_command("load_demo", stdout=out, stderr=err)

    assert Post.objects.exists()
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    assert demo.API_KEY_FILE.read_text() not in err.getvalue()
    assert demo.PASSWORD_FILE.read_text() not in err.getvalue()
