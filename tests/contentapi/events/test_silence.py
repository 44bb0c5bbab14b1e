"""What is done in silence announces nothing, and everything after it does."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction

from blog import services
from contentapi.core.identity import OPERATOR
from contentapi.events.triggers import merge_events, silence
from tests.contentapi.events.actions import make_commented_post
from tests.event_log import collect_events
from tests.factories import make_author, make_comment, make_order, make_post


def test_nothing_is_announced_in_silence() -> None:
    with collect_events() as events:
        with silence():
            make_comment(make_post())
            make_order()
        make_author()

    assert [event.type for event in events] == ["author.created"]


def test_silence_about_one_kind_lets_others_be_announced() -> None:
    with collect_events() as events, silence("author"):
        make_post()

    assert [event.type for event in events] == ["post.created"]


def test_silence_includes_the_services_that_silence_one_kind() -> None:
    post = make_commented_post()
    with collect_events() as events, silence():
        services.delete_post(actor=OPERATOR, post_id=str(post.pk))
        make_author()

    assert events == []


def test_silence_ends_with_an_error_too() -> None:
    with collect_events() as events:
        with pytest.raises(KeyError), transaction.atomic(), silence():
            raise KeyError
        make_author()

    assert [event.type for event in events] == ["author.created"]


def test_merged_changes_are_those_of_one_object() -> None:
    first, second = make_author(name="A"), make_author(name="B")
    with collect_events() as events, merge_events(first.pk):
        for author in (first, second):
            author.name, author.bio = "C", "Writes."
            author.save(update_fields=["name"])
            author.save(update_fields=["bio"])

    assert [event.changes for event in events if event.subject_id == first.pk] == [["bio", "name"]]
    assert [event.changes for event in events if event.subject_id == second.pk] == [["name"], ["bio"]]


@pytest.mark.parametrize("silent", [True, False])
def test_silent_import_announces_nothing(tmp_path: Path, *, silent: bool) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: A\n---\nText.")

    with collect_events() as events:
        call_command("import_posts", str(tmp_path), *["--silent"] * silent)

    assert [event.type for event in events] == ([] if silent else ["author.created", "post.created"])


@pytest.mark.usefixtures("media")
def test_demo_is_loaded_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentapi.demo.ensure_credentials", lambda: None)

    with collect_events() as events:
        call_command("load_demo")

    assert events == []
