"""The import of a file: the first time, and again after changes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection

from blog import services
from blog.files import importing
from blog.files.authors import NO_AUTHOR
from blog.files.importing import ImportOutcome
from blog.files.syntax import InvalidFile
from blog.models import Author, OldSlug, Post, PostSource
from contentapi.core.errors import ApiError, Forbidden, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from tests.blog.markdown_files import build_file, build_file_at, import_text
from tests.blog.racing import race
from tests.factories import make_author, make_post

DAY = datetime(2015, 5, 15, tzinfo=UTC)


def read_all_rows() -> list[object]:
    return [list(model.objects.order_by("pk").values()) for model in (Author, Post, PostSource)]


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


def test_file_without_author_and_modification_time_gets_defaults(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())

    expected = {"author__name": NO_AUTHOR, "updated_at": DAY, "source__authors": []}
    assert list(Post.objects.values(*expected)) == [expected]


def test_author_is_found_by_exact_name_and_the_oldest_is_used(tmp_path: Path) -> None:
    first, _ = make_author(name="Ines"), make_author(name="Ines")

    import_text(tmp_path, build_file('authors = ["Ines"]'), "a.md")
    import_text(tmp_path, build_file('authors = ["ines"]'), "b.md")

    by_path = dict(PostSource.objects.values_list("path", "post__author__name"))
    assert by_path == {"a.md": "Ines", "b.md": "ines"}
    assert PostSource.objects.get(path="a.md").post.author == first


def test_unchanged_file_keeps_the_changes_of_an_editor(tmp_path: Path) -> None:
    import_text(tmp_path, build_file())
    post = Post.objects.get()
    services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes={"title": "Better soup"})
    before = read_all_rows()

    outcome = import_text(tmp_path, build_file(), status="archived")

    assert outcome == ImportOutcome.UNCHANGED
    assert read_all_rows() == before


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


def test_file_of_a_deleted_post_creates_a_new_post_with_the_same_addresses(tmp_path: Path) -> None:
    file = build_file('aliases = ["/cold-soup/"]')
    import_text(tmp_path, file)
    Post.objects.get().delete()

    assert import_text(tmp_path, file) == ImportOutcome.CREATED
    post = Post.objects.get()
    assert post.slug == "soup"
    assert list(OldSlug.objects.values_list("slug", "post_id")) == [("cold-soup", post.pk)]


def test_new_post_of_a_file_takes_only_the_addresses_that_it_wants_from_the_deleted_one(tmp_path: Path) -> None:
    make_post(slug="soup")
    import_text(tmp_path, build_file('aliases = ["/cold-soup/", "/broth/"]'))
    before = Post.objects.get(slug="soup-2").pk
    Post.objects.get(pk=before).delete()

    import_text(tmp_path, build_file('aliases = ["/cold-soup/"]'))

    post = Post.objects.latest("pk")
    assert post.slug == "soup-2"
    assert dict(OldSlug.objects.values_list("slug", "post_id")) == {"broth": before, "cold-soup": post.pk}


@pytest.mark.parametrize(
    ("name", "text"),
    [("_index.md", "no front matter"), ("a/_index.fr.md", build_file()), ("latest.md", '+++\ntemplate = "x"\n+++\n')],
)
def test_section_or_template_page_is_not_a_post(tmp_path: Path, name: str, text: str) -> None:
    assert import_text(tmp_path, text, name) == ImportOutcome.NOT_A_POST
    assert read_all_rows() == [[], [], []]


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


def test_file_name_that_is_not_utf_8_raises_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "soup.md"
    file.write_text(build_file())

    with pytest.raises(InvalidFile, match=r"^the file's name is not UTF-8$"):
        importing.import_file(actor=OPERATOR, file=build_file_at(file, "soup\udcff.md"))


@pytest.mark.parametrize(
    ("actor", "refused"),
    [
        (ANONYMOUS, Unauthenticated),
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


def test_file_over_the_limit_is_refused_with_its_size_and_not_read(tmp_path: Path) -> None:
    file = tmp_path / "big.md"
    with file.open("wb") as opened:
        opened.truncate(3_000_000_000)  # a sparse file

    with pytest.raises(InvalidFile) as refusal:
        importing.import_file(actor=OPERATOR, file=build_file_at(file, "big.md"))

    message = "the file has 3,000,000,000 bytes; at most 2,000,000 are allowed. Split the post."
    assert str(refusal.value) == message
