"""The import of a file: the first time, and again after changes."""

import hashlib
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from blog import importing, services
from blog.front_matter import NO_AUTHOR
from blog.front_matter_syntax import InvalidFile
from blog.importing import ImportOutcome, MarkdownFile
from blog.models import Author, Post, PostSource
from contentapi.core.errors import ApiError, Forbidden, Invalid, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.blog.racing import race
from tests.factories import make_actor, make_author, make_post

DAY = datetime(2015, 5, 15, tzinfo=UTC)


def build_file(lines: str = "", body: str = "Boil.\n", title: str = "Soup") -> str:
    return f'+++\ntitle = "{title}"\ndate = 2015-05-15\n{lines}\n+++\n{body}'


def import_text(
    folder: Path, text: str, name: str = "soup.md", *, status: str = "published", dry_run: bool = False
) -> ImportOutcome:
    """Write the file and import it."""
    file = folder / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text, newline="")
    return importing.import_file(actor=OPERATOR, file=build_file_at(file, name), status=status, dry_run=dry_run)


def build_file_at(file: Path, path: str, source: str = "site") -> MarkdownFile:
    return importing.build_markdown_file(source, path, file)


def read_all_rows() -> list[object]:
    return [list(model.objects.order_by("pk").values()) for model in (Author, Post, PostSource)]


@pytest.mark.django_db
def test_new_file_creates_a_post_with_all_its_values(tmp_path: Path) -> None:
    lines = 'authors = ["Ines", "Jo"]\ntags = ["hot"]\nupdated = 2016-01-01'

    outcome = import_text(tmp_path, build_file(lines, body="\r\nBoil.\n"), "kitchen/soup.md")

    text = {"title": "Soup", "body": "\r\nBoil.\n", "tags": ["hot"], "author__name": "Ines"}
    state = {"status": "published", "publish_at": None, "version": 1}
    times = {"created_at": DAY, "updated_at": datetime(2016, 1, 1, tzinfo=UTC)}
    source = {"source__path": "kitchen/soup.md", "source__authors": ["Ines", "Jo"], "source__status": "published"}
    expected = text | state | times | source
    assert outcome == ImportOutcome.CREATED
    assert list(Post.objects.values(*expected)) == [expected]


@pytest.mark.django_db
def test_file_without_author_and_modification_time_gets_defaults(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())

    expected = {"author__name": NO_AUTHOR, "updated_at": DAY, "source__authors": []}
    assert list(Post.objects.values(*expected)) == [expected]


@pytest.mark.django_db
def test_author_is_found_by_exact_name_and_the_oldest_is_used(tmp_path: Path) -> None:
    first, _ = make_author(name="Ines"), make_author(name="Ines")

    import_text(tmp_path, build_file('authors = ["Ines"]'), "a.md")
    import_text(tmp_path, build_file('authors = ["ines"]'), "b.md")

    by_path = dict(PostSource.objects.values_list("path", "post__author__name"))
    assert by_path == {"a.md": "Ines", "b.md": "ines"}
    assert PostSource.objects.get(path="a.md").post.author == first


@pytest.mark.django_db
def test_unchanged_file_keeps_the_changes_of_an_editor(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())
    post = Post.objects.get()
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Better soup"})
    before = read_all_rows()

    outcome = import_text(tmp_path, build_file(), status="archived")

    assert outcome == ImportOutcome.UNCHANGED
    assert read_all_rows() == before


@pytest.mark.django_db
def test_changed_file_replaces_the_changes_of_an_editor(tmp_path: Path) -> None:
    import_text(tmp_path, build_file('authors = ["Ines"]\ntags = ["hot"]'))
    post = Post.objects.get()
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Better", "tags": ["x"]})

    outcome = import_text(tmp_path, build_file('authors = ["Jo", "Ines"]', body="Simmer."))

    expected = {"id": post.pk, "title": "Soup", "body": "Simmer.", "tags": [], "author__name": "Jo", "version": 3}
    source = {"source__authors": ["Jo", "Ines"], "created_at": DAY}
    assert outcome == ImportOutcome.UPDATED
    assert list(Post.objects.values(*expected, *source)) == [expected | source]
    assert Post.objects.get().updated_at > post.updated_at


@pytest.mark.django_db
def test_file_is_identified_by_its_source_path_only(tmp_path: Path) -> None:
    outcomes = [import_text(tmp_path, build_file(), "a/soup.md"), import_text(tmp_path, build_file(), "b/soup.md")]
    outcomes += [
        import_text(tmp_path / "moved", build_file(), "a/soup.md"),
        import_text(tmp_path, build_file("draft = true"), "a/soup.md"),
    ]

    assert outcomes == [ImportOutcome.CREATED, ImportOutcome.CREATED, ImportOutcome.UNCHANGED, ImportOutcome.UPDATED]
    assert sorted(PostSource.objects.values_list("path", flat=True)) == ["a/soup.md", "b/soup.md"]


@pytest.mark.django_db
def test_file_of_a_deleted_post_creates_a_new_post(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())
    Post.objects.get().delete()

    assert import_text(tmp_path, build_file()) == ImportOutcome.CREATED
    assert Post.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "text"),
    [("_index.md", "no front matter"), ("a/_index.fr.md", build_file()), ("latest.md", '+++\ntemplate = "x"\n+++\n')],
)
def test_section_or_template_page_is_not_a_post(tmp_path: Path, name: str, text: str) -> None:
    assert import_text(tmp_path, text, name) == ImportOutcome.NOT_A_POST
    assert read_all_rows() == [[], [], []]


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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (build_file(title="x" * 201), "title: At most 200 characters are allowed (got 201)."),
        (build_file(body="x" * 200_001), "body: At most 200000 characters are allowed (got 200001)."),
        (
            build_file(f"tags = {[str(number) for number in range(21)]}"),
            "tags: At most 20 tags are allowed (got 21). Categories are tags too.",
        ),
        (build_file(f"tags = ['{'x' * 51}']"), "tags: Each tag must have from 1 to 50 characters."),
        (build_file(f"authors = ['{'x' * 151}']"), "the author's name has 151 characters; at most 150"),
    ],
)
def test_file_that_violates_a_rule_of_posts_raises_bad_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidFile) as refusal:
        import_text(tmp_path, text)

    assert str(refusal.value) == message
    assert read_all_rows() == [[], [], []]


@pytest.mark.django_db
def test_file_name_that_is_not_utf_8_raises_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "soup.md"
    file.write_text(build_file())

    with pytest.raises(InvalidFile, match=r"^the file's name is not UTF-8$"):
        importing.import_file(actor=OPERATOR, file=build_file_at(file, "soup\udcff.md"))


@pytest.mark.django_db
def test_dry_run_returns_the_outcome_and_changes_nothing(tmp_path: Path) -> None:
    import_text(tmp_path, build_file(), "known.md")
    before = read_all_rows()

    outcomes = [
        import_text(tmp_path, build_file('authors = ["Ines"]'), name, dry_run=True) for name in ("new.md", "known.md")
    ]

    assert outcomes == [ImportOutcome.CREATED, ImportOutcome.UPDATED]
    assert read_all_rows() == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("actor", "refused"),
    [
        (ANONYMOUS, Unauthenticated),
        (Actor(user_id=1, role=Role.READER, scopes=ALL_SCOPES), Forbidden),
        (Actor(user_id=1, role=Role.AUTHOR, scopes=ALL_SCOPES), Forbidden),
        (Actor(user_id=1, role=Role.ADMIN, scopes=ALL_SCOPES - {Scope.POSTS_WRITE}), Forbidden),
        (Actor(user_id=1, role=Role.ADMIN, scopes=ALL_SCOPES - {Scope.POSTS_PUBLISH}), Forbidden),
    ],
)
def test_actor_who_may_not_write_posts_of_all_authors_is_refused(
    tmp_path: Path, actor: Actor, refused: type[ApiError]
) -> None:
    file = tmp_path / "soup.md"
    file.write_text(build_file('authors = ["Ines"]'))

    with pytest.raises(refused):
        importing.import_file(actor=actor, file=build_file_at(file, "soup.md"))

    assert read_all_rows() == [[], [], []]


@pytest.mark.django_db
def test_editor_may_import(tmp_path: Path) -> None:
    (tmp_path / "soup.md").write_text(build_file())

    outcome = importing.import_file(actor=make_actor(Role.EDITOR), file=build_file_at(tmp_path / "soup.md", "soup.md"))

    assert outcome == ImportOutcome.CREATED


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_of_a_new_file_create_one_post_and_one_author(tmp_path: Path) -> None:
    text = build_file('authors = ["Ines"]')

    outcomes = race(
        lambda: connection.cursor().execute("LOCK TABLE blog_post IN SHARE MODE"),
        lambda: import_text(tmp_path / "one", text),
        lambda: import_text(tmp_path / "two", text),
    )

    assert sorted(outcomes) == [ImportOutcome.CREATED, ImportOutcome.UNCHANGED]
    assert [Post.objects.count(), PostSource.objects.count(), Author.objects.count()] == [1, 1, 1]


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_by_one_new_author_create_one_author(tmp_path: Path) -> None:
    text = build_file('authors = ["Ines"]')

    outcomes = race(
        lambda: connection.cursor().execute("LOCK TABLE blog_author IN SHARE MODE"),
        lambda: import_text(tmp_path, text, "one.md"),
        lambda: import_text(tmp_path, text, "two.md"),
    )

    assert outcomes == [ImportOutcome.CREATED, ImportOutcome.CREATED]
    assert [Post.objects.count(), Author.objects.count()] == [2, 1]


@pytest.mark.django_db(transaction=True)
def test_concurrent_import_and_edit_both_increment_the_version(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())
    post = Post.objects.get()

    race(
        lambda: services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Better soup"}),
        lambda: import_text(tmp_path, build_file(body="Simmer.")),
    )

    expected = {"title": "Soup", "body": "Simmer.", "version": 3}
    assert Post.objects.values(*expected).get() == expected


@pytest.mark.parametrize("name", ["a.md", "b.markdown", "deep/er/c.md", "d.mdx", "E.MD"])
def test_markdown_files_are_found_at_any_depth(tmp_path: Path, name: str) -> None:
    for other in (name, ".hidden.md", ".git/a.md", "a.txt", "folder.md/x.png"):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).touch()

    (found,) = importing.find_markdown_files([tmp_path])

    assert (found.source, found.path, found.location) == (tmp_path.name, name, tmp_path / name)


def test_path_of_a_file_is_its_name_with_any_suffix(tmp_path: Path) -> None:
    (tmp_path / "soup.txt").touch()

    (found,) = importing.find_markdown_files([tmp_path / "soup.txt"])

    assert (found.source, found.path) == (tmp_path.name, "soup.txt")


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


@pytest.mark.django_db
def test_files_of_two_sources_do_not_replace_each_other(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "soup.md").write_text(build_file(title=name))
        for file in importing.find_markdown_files([tmp_path / name]):
            assert importing.import_file(actor=OPERATOR, file=file) == ImportOutcome.CREATED

    rows = PostSource.objects.order_by("source").values_list("source", "path", "post__title")
    assert list(rows) == [("one", "soup.md", "one"), ("two", "soup.md", "two")]


def test_source_of_a_file_is_its_folder_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    file = tmp_path / "site" / "soup.md"
    file.touch()

    names = [
        [found.source for found in importing.find_markdown_files(paths, source)]
        for paths, source in [
            ([file], None),
            ([tmp_path / "site", file], None),
            ([file], " kitchen "),
            ([tmp_path], "x"),
        ]
    ]

    assert names == [["site"], ["site", "site"], ["kitchen"], ["x"]]


def test_two_folders_of_one_name_need_a_named_source(tmp_path: Path) -> None:
    folders = [tmp_path / "one" / "content", tmp_path / "two" / "content"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "soup.md").touch()

    with pytest.raises(Invalid, match="Two folders have the name content"):
        importing.find_markdown_files(folders)

    assert len(importing.find_markdown_files(folders, "kitchen")) == 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (" ", "This must not be empty."),
        ("x" * 151, "At most 150 characters are allowed (got 151)."),
        ("a\0", "This is not UTF-8."),
    ],
)
def test_unusable_name_of_a_source_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(Invalid) as refusal:
        importing.find_markdown_files([tmp_path], name)

    assert refusal.value.fields == {"source": [problem]}


def make_old_source(path: str, text: str, **values: Any) -> Post:
    """Import a file as a version did that stored neither the name of the source nor other front matter."""
    post = make_post(title="Soup", **values)
    digest = hashlib.sha256(text.encode()).digest()
    PostSource.objects.create(post=post, path=path, digest=digest, authors=[], status="published")
    return post


@pytest.mark.django_db
def test_post_of_a_file_imported_before_sources_had_names_is_found(tmp_path: Path) -> None:
    text = build_file('slug = "hot"')
    post = make_old_source("soup.md", text, body="Edited here.", version=7)

    outcome = import_text(tmp_path, text)

    expected = {"id": post.pk, "body": "Edited here.", "version": 7}
    source = {"source__source": "site", "source__front_matter": {"slug": "hot"}}
    assert outcome == ImportOutcome.UNCHANGED
    assert list(Post.objects.values(*expected, *source)) == [expected | source]


@pytest.mark.django_db
@pytest.mark.parametrize(("title", "outcome"), [("Soup", ImportOutcome.UPDATED), ("Bread", ImportOutcome.CREATED)])
def test_changed_file_of_an_unnamed_source_is_found_by_its_title(
    tmp_path: Path, title: str, outcome: ImportOutcome
) -> None:
    make_old_source("soup.md", "old")

    assert import_text(tmp_path, build_file(title=title)) == outcome
    assert Post.objects.count() == (1 if outcome == ImportOutcome.UPDATED else 2)


@pytest.mark.django_db
def test_migration_gives_the_posts_of_the_demo_their_source() -> None:
    migration = import_module("blog.migrations.0003_post_source_name")
    paths = ["demo/2026-05-02-soup-for-forty.md", "demo/mine.md", "2026-05-02-soup-for-forty.md"]
    for path in paths:
        make_old_source(path, path)

    with connection.cursor() as cursor:
        cursor.execute(migration.MOVE_DEMO)
        moved = sorted(PostSource.objects.values_list("source", "path"))
        cursor.execute(migration.MOVE_DEMO_BACK)

    assert moved == [("", paths[2]), ("", paths[1]), ("demo", paths[2])]
    assert sorted(PostSource.objects.values_list("source", "path")) == [("", path) for path in sorted(paths)]


@pytest.mark.django_db
def test_file_over_the_limit_is_refused_with_its_size_and_not_read(tmp_path: Path) -> None:
    file = tmp_path / "big.md"
    with file.open("wb") as opened:
        opened.truncate(3_000_000_000)  # a sparse file

    with pytest.raises(InvalidFile) as refusal:
        importing.import_file(actor=OPERATOR, file=build_file_at(file, "big.md"))

    message = "the file has 3,000,000,000 bytes; at most 2,000,000 are allowed. Split the post."
    assert str(refusal.value) == message


@pytest.mark.django_db
def test_front_matter_without_a_field_is_stored_with_its_types(tmp_path: Path) -> None:
    lines = 'slug = "s"\nexpires = 2030-01-01\nweight = 1.5\nmath = true\n[extra]\nat = 10:00:00\nlist = [1, "x"]'

    import_text(tmp_path, build_file(lines))

    assert PostSource.objects.get().front_matter == {
        "slug": "s",
        "expires": {"$date": "2030-01-01"},
        "weight": 1.5,
        "math": True,
        "extra": {"at": {"$time": "10:00:00"}, "list": [1, "x"]},
    }


@pytest.mark.django_db
def test_categories_count_towards_the_limit_of_tags(tmp_path: Path) -> None:
    tags = [str(number) for number in range(19)]

    import_text(tmp_path, build_file(f'tags = {tags}\ncategories = ["0", "x"]'))
    with pytest.raises(
        InvalidFile, match=r"^tags: At most 20 tags are allowed \(got 21\)\. Categories are tags too\.$"
    ):
        import_text(tmp_path, build_file(f'tags = {tags}\ncategories = ["x", "y"]'))

    assert Post.objects.get().tags == [*tags, "x"]
