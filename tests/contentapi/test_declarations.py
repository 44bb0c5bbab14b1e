"""What the apps declare: the errors that prevent the start."""

from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import Q

from blog import views
from blog.projections import POST
from contentapi.apps import check_sidebar
from contentapi.conf.content_apps import find_content_apps
from contentapi.events import declarations
from contentapi.events.declarations import App, Entry, EventSource, Type, collect_resources, load_apps
from contentapi.types.declared import load_own_types

SOURCE = EventSource(["created"], lambda _: Q(), views.POST)


def test_events_need_a_selector_of_their_object() -> None:
    with pytest.raises(TypeError, match="Post has events, but no selector of node"):
        Type(POST, events=SOURCE)


def test_apps_are_the_packages_that_declare_themselves(tmp_path: Path) -> None:
    declared, latin = b"\nAPI = App()", "# coding: latin-1\nNAME = 'é'".encode("latin-1")
    for name, text in {"recipes": declared, "requests": b"API = 1", "old": latin}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "api.py").write_bytes(text)

    assert find_content_apps(tmp_path) == ["recipes"]
    assert find_content_apps(settings.BASE_DIR) == sorted(
        ["blog", "orders", "users", *(own.app for own in load_own_types())]
    )


def test_path_of_two_apps_prevents_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "load_apps", lambda: [*load_apps(), App(resources=load_apps()[0].resources)])

    with pytest.raises(ValueError, match=r"Two apps declare the same path: .*\bauthors, "):
        collect_resources()


def test_entry_of_the_sidebar_without_pages_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry("Statuses", "history", "orders.OrderState")
    monkeypatch.setattr(declarations, "load_apps", lambda: [App(sidebar=[entry])])

    assert [error.msg for error in check_sidebar()] == [
        "The sidebar has an entry for orders.OrderState, which the admin does not show."
    ]
