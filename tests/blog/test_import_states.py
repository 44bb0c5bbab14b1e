"""The state of an imported post: the file, the option, the date and later changes decide."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from blog import importing, services
from blog.importing import ImportOutcome
from blog.models import Post, PostSource
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file, import_text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "moved_to", "second", "expected"),
    [
        ("published", None, "published", "published"),
        ("published", None, "draft", "draft"),
        ("draft", None, "published", "published"),
        ("draft", "published", "draft", "published"),
        ("draft", "published", "published", "published"),
        ("draft", "archived", "published", "published"),
        ("draft", "scheduled", "published", "published"),
        ("draft", "scheduled", "draft", "scheduled"),
        ("published", "archived", "published", "archived"),
        ("published", "archived", "draft", "draft"),
        ("published", "draft", "published", "draft"),
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


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_draft_flag_of_a_file_overrides_the_status_option(tmp_path: Path, status: str) -> None:
    import_text(tmp_path, build_file("draft = true"), "a.md", status=status)
    import_text(tmp_path, build_file("draft = false"), "b.md", status=status)

    assert dict(PostSource.objects.values_list("path", "post__status")) == {"a.md": "draft", "b.md": status}


def build_schedule_lines(day: str) -> str:
    return f'status = "scheduled"\npublishAt = {day}'


@pytest.mark.django_db
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


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["published", "archived"])
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.md", "draft = true"),
        ("a.md", "published = false"),
        ("_drafts/a.md", ""),
        ("site/_drafts/deep/a.md", "draft = false"),
        ("_drafts/a.md", "published = true"),
        ("_drafts/a.md", 'publishDate = "2999-01-01"'),
    ],
)
def test_each_mark_of_a_draft_overrides_the_status_option(tmp_path: Path, name: str, lines: str, status: str) -> None:
    import_text(tmp_path, build_file(lines), name, status=status)

    assert read_states() == {name: ("draft", None)}


@pytest.mark.django_db
def test_imported_drafts_folder_itself_makes_drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_drafts").mkdir()
    (tmp_path / "_drafts" / "a.md").write_text(build_file())
    monkeypatch.chdir(tmp_path / "_drafts")

    (file,) = importing.find_markdown_files([Path()])
    importing.import_file(actor=OPERATOR, file=file)

    assert (file.source, read_states()) == ("_drafts", {"a.md": ("draft", None)})


FUTURE = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("lines", "option", "state"),
    [
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
    ],
)
def test_file_with_a_date_in_the_future_is_scheduled_unless_it_is_a_draft(
    tmp_path: Path, lines: str, option: str, state: tuple[str, datetime | None]
) -> None:
    import_text(tmp_path, f'+++\ntitle = "Soup"\n{lines}\n+++\n', status=option)

    assert read_states() == {"soup.md": state}


@pytest.mark.django_db
def test_scheduled_file_that_is_changed_after_its_date_becomes_public(tmp_path: Path) -> None:
    import_text(tmp_path, build_file("publishDate = 2999-01-01"))
    import_text(tmp_path, build_file("publishDate = 2020-01-01"))

    expected = {"status": "published", "publish_at": None, "published_at": datetime(2020, 1, 1, tzinfo=UTC)}
    assert list(Post.objects.values(*expected)) == [expected]
