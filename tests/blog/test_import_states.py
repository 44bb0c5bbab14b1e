"""The state of an imported post: the file, the option, the date and later changes decide."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from blog import services
from blog.files import exporting, importing, reading
from blog.files.dates import parse_date
from blog.files.exporting import serialize_post
from blog.files.importing import ImportOutcome
from blog.files.syntax import decode_value, split_front_matter
from blog.models import Post, PostSource
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file, import_text


@pytest.mark.parametrize(
    ("first", "moved_to", "second", "expected"),
    [
        ("published", None, "draft", "draft"),
        ("draft", "published", "draft", "published"),
        ("draft", "scheduled", "published", "published"),
        ("draft", "scheduled", "draft", "scheduled"),
        ("published", "archived", "published", "archived"),
        ("published", "archived", "draft", "draft"),
    ],
)
def test_changed_file_changes_the_status_only_if_its_own_status_changed(
    tmp_path: Path, first: str, moved_to: str | None, second: str, expected: str
) -> None:
    drafts = {"draft": "draft = true", "published": ""}
    later = datetime(2100, 1, 1, tzinfo=UTC)
    import_text(tmp_path, build_file(drafts[first]))
    if moved_to:
        time = later if moved_to == "scheduled" else None
        services.edit_post(
            actor=OPERATOR, post_id=str(Post.objects.get().pk), changes={"status": moved_to, "publish_at": time}
        )

    outcome = import_text(tmp_path, build_file(drafts[second], body="Simmer."))

    state = {"status": expected, "publish_at": later if expected == "scheduled" else None, "source__status": second}
    assert outcome == ImportOutcome.UPDATED
    assert list(Post.objects.values(*state)) == [state]


def build_schedule_lines(day: str) -> str:
    return f'status = "scheduled"\npublishAt = {day}'


@pytest.mark.parametrize(
    ("first", "second", "becomes"),
    [
        ("2100-01-01", "2100-02-02", datetime(2100, 2, 2, tzinfo=UTC)),
        ("2100-01-01", "2100-01-01", datetime(2100, 3, 3, tzinfo=UTC)),
    ],
)
def test_changed_publication_time_in_the_file_replaces_that_of_an_editor(
    tmp_path: Path, first: str, second: str, becomes: datetime
) -> None:
    import_text(tmp_path, build_file(build_schedule_lines(first)))
    Post.objects.update(publish_at=datetime(2100, 3, 3, tzinfo=UTC))

    import_text(tmp_path, build_file(build_schedule_lines(second), body="Simmer."))

    assert list(Post.objects.values("status", "publish_at", "body")) == [
        {"status": "scheduled", "publish_at": becomes, "body": "Simmer."}
    ]


def read_states() -> dict[str, tuple[str, datetime | None]]:
    rows = PostSource.objects.values_list("path", "post__status", "post__publish_at")
    return {path: (status, publish_at) for path, status, publish_at in rows}


def test_imported_drafts_folder_itself_makes_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_drafts").mkdir()
    (tmp_path / "_drafts" / "a.md").write_text(build_file())
    monkeypatch.chdir(tmp_path / "_drafts")

    (file,) = reading.find_markdown_files([Path()])
    importing.import_file(actor=OPERATOR, file=file)

    assert (file.source, read_states()) == ("_drafts", {"a.md": ("draft", None)})


PAST = datetime(2015, 5, 15, tzinfo=UTC)
FUTURE = datetime(2999, 1, 1, tzinfo=UTC)
LATER = datetime(2999, 2, 2, tzinfo=UTC)


def test_file_with_a_date_in_the_future_is_scheduled_unless_it_is_a_draft(tmp_path: Path) -> None:
    states: dict[str, tuple[str, datetime | None]] = {}
    for lines, option, state in [
        ("date = 2999-01-01", "published", ("scheduled", FUTURE)),
        ("date = 2999-01-01", "draft", ("draft", None)),
        ("date = 2999-01-01", "archived", ("archived", None)),
        ("date = 2999-01-01\ndraft = true", "published", ("draft", None)),
        ("date = 2999-01-01\npublished = false", "published", ("draft", None)),
        ('date = 2999-01-01\nstatus = "published"', "draft", ("published", None)),
        ("date = 2015-05-15\npublishDate = 2999-01-01", "published", ("scheduled", FUTURE)),
        ("date = 2999-01-01\npublishDate = 2015-05-15", "published", ("published", None)),
        ("date = 2015-05-15\nexpiryDate = 2999-01-01", "published", ("published", None)),
        ("date = 2015-05-15\nexpiryDate = 2016-01-01", "published", ("published", None)),
    ]:
        states[f"{len(states)}.md"] = state
        import_text(tmp_path, f'+++\ntitle = "Soup"\n{lines}\n+++\n', [*states][-1], status=option)

    assert read_states() == states


@pytest.mark.parametrize(
    ("lines", "created_at", "kept"),
    [
        ("date = 2999-01-01", None, {"publishDate": FUTURE}),
        ("date = 2999-01-01\nupdated = 2999-01-01", None, {"publishDate": FUTURE}),
        ("date = 2999-01-01\nlastmod = 2999-01-01", None, {"publishDate": FUTURE}),
        ('date = 2999-01-01\nstatus = "archived"', None, {"publishDate": FUTURE}),
        ('path = "2999/01/01/soup"', None, {"path": "2999/01/01/soup", "publishDate": FUTURE}),
        ("publishDate = 2999-01-01", None, {"publishDate": FUTURE.date()}),
        ("date = 2999-01-01\npublishDate = 2015-05-15", PAST, {"publishDate": PAST.date()}),
        ("date = 2015-05-15\npublishDate = 2999-01-01", PAST, {"publishDate": FUTURE.date()}),
        ("date = 2015-05-15\npublishDate = 2999-01-01\nlastmod = 2999-01-01", PAST, {"publishDate": FUTURE.date()}),
    ],
)
def test_file_with_a_date_in_the_future_is_created_and_changed_now(
    tmp_path: Path, lines: str, created_at: datetime | None, kept: dict[str, Any]
) -> None:
    began = timezone.now()

    import_text(tmp_path, f'+++\ntitle = "Soup"\n{lines}\n+++\n')

    post = Post.objects.select_related("source").get()
    is_changed = "updated" in lines or "lastmod" in lines
    assert created_at in (None, post.created_at)
    assert is_changed or post.updated_at == post.created_at
    assert max(post.created_at, post.updated_at) <= timezone.now()
    assert (created_at or began) <= post.created_at
    front_matter = {key: decode_value(value) for key, value in (post.source.front_matter or {}).items()}
    assert front_matter.pop("lastmod", post.updated_at) == post.updated_at
    assert front_matter == kept


def test_changed_file_with_a_date_in_the_future_keeps_the_time_of_creation(tmp_path: Path) -> None:
    import_text(tmp_path, build_file("", title="Old").replace("2015-05-15", "2999-01-01"))
    created = Post.objects.get().created_at

    import_text(tmp_path, build_file("", title="New").replace("2015-05-15", "2998-01-01"))

    expected = {"title": "New", "created_at": created, "publish_at": datetime(2998, 1, 1, tzinfo=UTC)}
    assert list(Post.objects.values(*expected)) == [expected]


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({}, FUTURE),
        ({"status": "draft", "publish_at": None}, FUTURE),
        ({"publish_at": LATER}, LATER),
        ({"status": "published", "publish_at": None, "published_at": PAST}, PAST),
    ],
)
def test_export_states_the_present_time_of_publication(
    tmp_path: Path, changes: dict[str, Any], stated: datetime
) -> None:
    """A generator that knows `publishDate` only must not publish the post earlier, or hide it."""
    import_text(tmp_path, build_file("publishDate = 2999-01-01"))
    Post.objects.update(**changes)
    (post,) = exporting.list_posts_to_export(OPERATOR)

    exported, _ = split_front_matter(serialize_post(exporting.to_markdown_post(post)).decode())

    assert parse_date(exported["publishDate"], "publishDate") == stated


def test_scheduled_file_that_is_changed_after_its_date_becomes_public(tmp_path: Path) -> None:
    import_text(tmp_path, build_file("publishDate = 2999-01-01"))
    import_text(tmp_path, build_file("publishDate = 2020-01-01"))

    expected = {"status": "published", "publish_at": None, "published_at": datetime(2020, 1, 1, tzinfo=UTC)}
    assert list(Post.objects.values(*expected)) == [expected]
