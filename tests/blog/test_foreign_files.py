"""Files of other generators and editors: who may read them, their addresses, titles and words. None becomes public that
is not public there.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath

import pytest
from django.utils import timezone

from blog.files import importing
from blog.files.front_matter import MarkdownPost
from blog.models import Post, PostStatus
from contentapi.core.identity import OPERATOR
from tests.blog.markdown_files import build_file_at, import_text, parse_post
from tests.users.command_runs import run_command


def parse(lines: str, body: str = "Boil.\n", path: str = "soup.md") -> MarkdownPost:
    post = parse_post(f"---\n{lines}\n---\n{body}".encode(), PurePath(path))
    assert post is not None
    return post


def test_file_that_is_not_public_elsewhere_is_a_draft() -> None:
    for line in [
        "draft: true", "Draft: true", "DRAFT: yes", "draft: 'True'", "draft: 1", "draft: perhaps", "draft: [a]",
        "published: false", "Published: No", "published: 'false'", "publish: false", "publish: 0", "publish: later",
        "unlisted: true", "Private: on", "hidden: true", "password: secret", "visibility: members", "visibility: x",
        "status: draft", "Status: DRAFT", "status: pending", "status: private", "status: trash", "status: Hidden",
        "status: auto-draft", "status: seedling", "status: [published]", "status: future", "status: 1",
        "isDraft: true", "is-draft: yes", "wip: true", "protected: true", "headless: true", "post_status: private",
        "eleventyExcludeFromCollections: true", "permalink: false", "render: false", "build: {render: never}",
        "_build:\n  render: false", "status: scheduled", "draft: true\nstatus: published",
        "status: publish\npublished: false", "unlisted: true\nstatus: archived",
    ]:  # fmt: skip
        assert parse(f"title: Soup\ndate: 2020-01-02\n{line}").status == PostStatus.DRAFT


def test_file_in_a_folder_of_drafts_is_a_draft() -> None:
    for path in ["_drafts/soup.md", "site/_Drafts/kitchen/soup.md", "Drafts/soup.md"]:
        assert parse("title: Soup", path=path).status == PostStatus.DRAFT


def test_file_that_is_public_elsewhere_is_no_draft() -> None:
    for line, status in [
        *((line, None) for line in ("draft: false", "draft: 'no'", "draft:", "published: true", "publish: yes")),
        *((line, None) for line in ("hidden: false", "private: 0", "visibility: Public", "password: ''", "status:")),
        *((line, None) for line in ("render: true", "build: {list: never}", "permalink: /soup/", "wip: false")),
        *((f"status: {word}", PostStatus.PUBLISHED) for word in ("publish", "Publish", "PUBLISHED", "public")),
        ("status: Archived", PostStatus.ARCHIVED),
    ]:
        assert parse(f"title: Soup\ndate: 2020-01-02\n{line}").status == status


def test_note_says_why_a_file_is_a_draft() -> None:
    for line, note in [
        ("Draft: true", "A draft, because draft is true."),
        ("status: Pending", "A draft, because status is 'Pending'."),
        ("visibility: members", "A draft, because visibility is 'members'."),
        ("password: secret", "A draft, because password is set."),
        ("draft: true\nstatus: draft", None),
        ("status: publish", None),
    ]:
        assert parse(f"title: Soup\n{line}").notes == ((note,) if note else ())


@pytest.mark.parametrize("status", ["future", "publish", "scheduled"])
def test_state_of_wordpress_with_a_future_date_makes_a_scheduled_post(tmp_path: Path, status: str) -> None:
    day = timezone.now().replace(microsecond=0) + timedelta(days=3)

    import_text(tmp_path, f"---\ntitle: Soup\nstatus: {status}\ndate: {day.isoformat()}\n---\nBoil.")

    assert Post.objects.values_list("status", "publish_at").get() == ("scheduled", day)


def test_draft_of_another_program_that_is_published_here_is_exported_as_published(tmp_path: Path) -> None:
    lines = "unlisted: true\nPrivate: true\nhidden: false\npublish: false\npublished: false\npermalink: false"
    states = f"{lines}\npost_status: draft"
    import_text(tmp_path / "site", f"---\ntitle: Soup\ndate: 2020-01-02\n{states}\n---\nBoil.")
    Post.objects.update(status="published", published_at=datetime(2020, 1, 2, tzinfo=UTC))

    run_command("export_posts", str(tmp_path / "export"))
    (file,) = (tmp_path / "export").glob("*.md")

    post = parse_post(file.read_bytes(), file)
    assert post is not None
    assert post.status == PostStatus.PUBLISHED
    assert post.other == {"hidden": False, "publish": True, "published": True}


def test_keys_with_a_meaning_are_read_in_any_case_and_others_stay_as_they_are() -> None:
    post = parse(
        "TITLE: Soup\nDate: 2020-01-02\nTags: [sea]\ntags: [sea]\nLastMod: 2020-01-03\n"
        "CanonicalUrl: https://a.b/\nLayout: x"
    )

    assert (post.content["title"], post.content["tags"], post.content["canonical_url"]) == (
        "Soup",
        ["sea"],
        "https://a.b/",
    )
    assert (post.date, post.updated) == (datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 3, tzinfo=UTC))
    assert post.other == {"lastmod": datetime(2020, 1, 3).date(), "canonicalURL": "https://a.b/", "Layout": "x"}  # noqa: DTZ001


def test_number_that_is_none_is_kept_as_a_value_and_as_a_key() -> None:
    other = parse("weight: .nan\n.nan: 1").other

    assert [(str(key), str(value)) for key, value in other.items()] == [("weight", "nan"), ("nan", "1")]


def test_dates_of_other_generators_are_read() -> None:
    for lines, day, updated in [
        ("pubDatetime: 2020-01-02\nmodDatetime: 2020-01-03", 2, 3),
        ("date: 2020-01-02\nlast_modified_at: 2020-01-03", 2, 3),
        ("date_published: 2020-01-02\ndate_updated: 2020-01-03", 2, 3),
        ("created_at: 2020-01-01\npublished_at: 2020-01-02\nupdated_at: 2020-01-03", 1, 3),
        ("pub_date: 2020-01-02\nupdatedDate: 2020-01-03", 2, 3),
        ("created: 2020-01-02\nupdated_at: last week", 2, None),
        ("date: git Last Modified", None, None),
        ("date: 02-Jan-2020", 2, None),
    ]:
        post = parse(f"title: Soup\n{lines}")

        assert post.date == (day and datetime(2020, 1, day, tzinfo=UTC))
        assert post.updated == (updated and datetime(2020, 1, updated, tzinfo=UTC))


def test_tags_of_other_programs_have_no_effect() -> None:
    post = parse("title: !ruby/str Soup\nmeta: !ruby/hash:Params\n  a: !!python/name:os.system\ntheme: !!set {b}")

    assert (post.content["title"], post.other) == ("Soup", {"meta": {"a": ""}, "theme": {"b": None}})


def test_name_of_the_file_is_the_slug() -> None:
    for path, slug, day in [
        ("posts/2020-05-06-old-pier.md", "old-pier", (2020, 5, 6)),
        ("2020_5_6_old_pier.markdown", "old-pier", (2020, 5, 6)),
        ("20200506-old-pier.md", "old-pier", (2020, 5, 6)),
        ("2020.05.06-old-pier.md", "old-pier", (2020, 5, 6)),
        ("2020-05-06T10:00:00Z-old-pier.md", "old-pier", (2020, 5, 6)),
        ("blog/2020/05/06/old-pier.md", "old-pier", (2020, 5, 6)),
        ("2020-05-06-old-pier/index.md", "old-pier", (2020, 5, 6)),
        ("old-pier/index.en.md", "old-pier", None),
        ("2020-05-06-old-pier.html.md", "old-pier", (2020, 5, 6)),
        ("Old-Pier_1.0.md", "old-pier-1-0", None),
        ("1984.md", "1984", None),
        ("2020-05-06-1-2-0.md", "1-2-0", (2020, 5, 6)),
        ("旧码头.md", "jiumatou", None),
        ("!.md", None, None),
        ("2015-05-15-soup/other.md", "other", None),
        ("soup-2015-05-15.md", "soup-2015-05-15", None),
        ("2015-05-151.md", "2015-05-151", None),
        ("2020-05-06.md", "2020-05-06", (2020, 5, 6)),
    ]:  # fmt: skip
        post = parse("title: Soup", path=path)

        assert post.file_slug == slug
        assert post.date == (datetime(*day, tzinfo=UTC) if day else None)


def test_name_of_the_file_is_the_address_unless_the_file_states_one(tmp_path: Path) -> None:
    for day, line in enumerate(("slug: 0755", "permalink: /a/fish/", "path: /:title/", ""), start=1):
        import_text(tmp_path, f"---\ntitle: Soup\n{line}\n---\nBoil.", f"2020-05-0{day}-pot.md")

    assert [*Post.objects.order_by("pk").values_list("slug", flat=True)] == ["0755", "fish", "pot", "pot-2"]


def test_title_is_the_first_heading_or_the_name_of_the_file() -> None:
    for text, title, body in [
        ("# Old *pier*\n\nWind.\n", "Old pier", "Wind.\n"),
        ("\r\nOld pier\r\n========\r\n\r\nWind.", "Old pier", "Wind."),
        ("Wind.\n\n## Two\n\n# One #\n\nTide.", "One", "Wind.\n\n## Two\n\n\nTide."),
        ("```\n# No heading\n```\n> # No\n\n- # No\n", "My first post", None),
        ("Wind.", "My first post", None),
    ]:
        post = parse("date: 2020-01-02", text, "2020-01-02-My-first_post.md")

        assert (post.content["title"], post.content["body"]) == (title, text if body is None else body)
        assert len(post.notes) == 1


def test_words_are_what_is_written() -> None:
    tags = "tags: [yes, 1.10, 2020-01-02, 12:30, 0x1F, Null]\ncategories: [[on, a], {label: B}]"
    post = parse(f"title: 1_000\nslug: 010\n{tags}\nauthors: [No, NULL]")

    assert (post.content["title"], post.content["slug"]) == ("1_000", "010")
    assert post.content["tags"] == ["yes", "1.10", "2020-01-02", "12:30", "0x1F", "Null", "on", "a", "B"]
    assert post.authors == ("No", "NULL")


def test_empty_items_are_left_out() -> None:
    post = parse("title: Soup\ntags:\n  -\n  - sea\n  - ~\ncategories: [null, '', tide]\nauthors: [~, Ines, null]")

    assert (post.content["tags"], post.authors) == (["sea", "tide"], ("Ines",))


def test_author_is_the_name_that_readers_see_and_no_address_of_mail() -> None:
    for author, name in [
        ("{display_name: Mara Holt, login: admin, email: m@example.com}", "Mara Holt"),
        ("{login: admin, Name: Mara}", "Mara"),
        ("{email: m@example.com, key: mara}", "mara"),
        ("Mara Holt <m@example.com>", "Mara Holt"),
        ("m@example.com (Mara Holt)", "Mara Holt"),
        ("mara@example.com", "mara"),
    ]:
        assert parse(f"title: Soup\nauthor: {author}").authors == (name,)


def test_lines_end_as_in_other_programs() -> None:
    for begin in ["", "\ufeff", "\n\n"]:
        for last in ["---", "...", "---  "]:
            for end in ["\n", "\r\n", "\r"]:
                text = end.join([f"{begin.replace(chr(10), end)}---", "title: Soup", "tags: [a]", last, "Boil.", ""])

                post = parse_post(text.encode(), PurePath("a.md"))

                assert post is not None
                assert (post.content["title"], post.content["tags"], post.content["body"]) == (
                    "Soup",
                    ["a"],
                    f"Boil.{end}",
                )


def test_whatever_goes_wrong_in_one_file_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, line in (("a", ""), ("b", "publishDate: 02/03/2020"), ("c", ""), ("d", "")):
        (tmp_path / f"{name}.md").write_text(f"---\ntitle: {name}\ndate: 2020-01-01\n{line}\n---\n")
    apply_content = importing.apply_content

    def fail(post: Post, parsed: MarkdownPost) -> None:
        apply_content(post, parsed)
        if parsed.content["title"] == "c":
            Post.objects.create()  # an error of the database

    monkeypatch.setattr(importing, "apply_content", fail)
    files = [build_file_at(file, file.name) for file in sorted(tmp_path.iterdir())]
    reports = list(importing.import_files(actor=OPERATOR, files=files))

    refused = {report.file.path: report.reason for report in reports if report.reason}
    assert refused == {
        "b.md": "publishDate has two meanings: '02/03/2020'. Write the date as 2024-01-09.",
        "c.md": "An unexpected error happened. The operator finds it in the log.",
    }
    assert sorted(Post.objects.values_list("title", flat=True)) == ["a", "d"]
