"""Markdown files with front matter, in each accepted format. test_bad_files.py tests invalid files."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from blog.files.front_matter import MarkdownPost
from blog.models import PostStatus
from tests.blog.markdown_files import parse_post
from tests.content import EMPTY

HERE = PurePath("soup.md")
DAY = datetime(2015, 5, 15, tzinfo=UTC)


def build_toml_file(lines: str, body: str = "Boil.\n") -> bytes:
    return f"+++\n{lines}\n+++\n{body}".encode()


def build_yaml_file(lines: str, body: str = "Boil.\n") -> bytes:
    return f"---\n{lines}\n---\n{body}".encode()


def parse(content: bytes, path: PurePath = HERE) -> MarkdownPost:
    post = parse_post(content, path)
    assert post is not None
    return post


SOUP = MarkdownPost(
    content=EMPTY | {"title": "Soup", "body": "\nBoil.\n", "tags": ["hot", "cheap"]},
    authors=("Ines", "Jo"),
    date=DAY,
    updated=datetime(2016, 1, 2, 3, 4, 5, tzinfo=UTC),
    status=PostStatus.DRAFT,
    publish_at=None,
)
SOUP_TOML = """+++
title = "Soup"
authors = ["Ines", "Jo"]
date = 2015-05-15
updated = 2016-01-02T03:04:05Z
draft = true
[taxonomies]
tags = ["hot", "cheap"]
+++

Boil.
"""
SOUP_YAML = """---
title: Soup
authors: [Ines, Jo]
date: 2015-05-15
lastmod: 2016-01-02 03:04:05
draft: true
tags: hot cheap
---

Boil.
"""


def test_complete_file_is_parsed_with_and_without_a_byte_order_mark() -> None:
    for mark in [b"", b"\xef\xbb\xbf"]:
        for text in [SOUP_TOML, SOUP_YAML]:
            assert replace(parse(mark + text.encode()), other={}) == SOUP


def test_body_is_everything_after_the_front_matter() -> None:
    for beginning in ['+++\ntitle = "Soup"\n+++\n', "---\ntitle: Soup\n---\n"]:
        for body in [
            "",
            "x",
            "\n\n",
            "  x  ",
            "+++\nx\n+++\n",
            "---\nx\n",
            "a\r\nb\rc\n",
            "\ufeffx",
            "\u2028\x0b\x1c\x85",
            "+++ x",
        ]:
            assert parse(f"{beginning}{body}".encode()).content["body"] == body


def test_only_a_separate_line_ends_the_front_matter() -> None:
    for content, body in [
        (b'+++ \t\ntitle = "Soup"\n+++\t \nBoil.', "Boil."),
        (b"---\ntitle: Soup\n---", ""),
        (b'+++\ntitle = "Soup" # ---\ndescription = "+++ x"\n+++\nBoil.', "Boil."),
    ]:
        assert (parse(content).content["title"], parse(content).content["body"]) == ("Soup", body)


def test_page_without_title_and_text_is_not_a_post() -> None:
    for content in [b"+++\n+++\n", b'+++\ntemplate = "latest.html"\n+++\n \n', b"---\n---\n"]:
        assert parse_post(content, HERE) is None


def test_each_format_of_a_date_in_the_front_matter_is_parsed() -> None:
    for line, moment in [
        ("date = 2015-05-15", DAY),
        ("date = 2015-05-15T10:00:00", datetime(2015, 5, 15, 10, tzinfo=UTC)),
        ("date = 2015-05-15T10:00:00.5+02:00", datetime(2015, 5, 15, 8, 0, 0, 500_000, tzinfo=UTC)),
        ('path = "2015/05/15/soup"', DAY),
        ('path = "inside/2015/05/15/soup"', DAY),
        ('url = "/2015/05/15/"', DAY),
        ('permalink = "/kitchen/2015/05/15"', DAY),
        ('path = "soup/12015/05/15"', None),
        ('path = "2015/05/151"', None),
        ("path = 20150515", None),
        ('date = ""', None),
    ]:
        assert parse(build_toml_file(f'title = "Soup"\n{line}')).date == moment


def test_date_is_taken_from_front_matter_then_url_then_file_name() -> None:
    name, address, date = PurePath("2013-03-03-soup.md"), 'path = "2014/04/04/soup"', "date = 2015-05-15"

    assert parse(build_toml_file(f'title = "Soup"\n{address}\n{date}'), name).date == DAY
    assert parse(build_toml_file(f'title = "Soup"\n{address}'), name).date == datetime(2014, 4, 4, tzinfo=UTC)


def test_each_format_of_authors_is_parsed() -> None:
    for lines, authors in [
        ("author: Ines", ("Ines",)),
        ("author: Ines, Jo and others", ("Ines, Jo and others",)),
        ("authors: Ines", ("Ines",)),
        ("authors: Ines, Jo", ("Ines", "Jo")),
        ("authors: ['Falk, Ines', Jo]", ("Falk, Ines", "Jo")),
        ("authors: [{login: ines}, {username: jo}, {handle: al}]", ("ines", "jo", "al")),
        ("author: {login: ines, name: Ines}", ("Ines",)),
        ("extra: {author: {twitter: ines}}", ()),
        ("authors: [' Ines ', '', 7]", ("Ines", "7")),
        ("authors: [{name: Ines, email: i@example.invalid}, Jo]", ("Ines", "Jo")),
        ("taxonomies: {authors: [Ines]}", ("Ines",)),
        ("extra: {author: Ines}", ("Ines",)),
        ("authors: [Ines]\nauthor: Jo\nextra: {author: Al}", ("Ines",)),
        ("authors: []\nauthor: Jo", ("Jo",)),
        ("authors:", ()),
        ("taxonomies: none\nextra: 3", ()),
    ]:
        assert parse(build_yaml_file(f"title: Soup\n{lines}")).authors == authors


def test_each_format_of_tags_is_parsed_without_duplicates() -> None:
    for lines, tags in [
        ("tags: [hot, cheap]", ("hot", "cheap")),
        ("tags: hot cheap", ("hot", "cheap")),
        ("tags: very hot, cheap,", ("very hot", "cheap")),
        ("tags: [hot, ' hot ', '', very hot, 2015, 1.5]", ("hot", "very hot", "2015", "1.5")),
        ("taxonomies: {tags: [hot]}", ("hot",)),
        ("extra: {tags: hot}", ("hot",)),
        ("tags: []\ntaxonomies: {tags: [hot]}", ("hot",)),
        ("tags:", ()),
        ("tags: 2015", ("2015",)),
        ("tag: very hot", ("very hot",)),
        ("tags: [hot]\ncategories: [cheap, hot]", ("hot", "cheap")),
        ("categories: hot cheap", ("hot", "cheap")),
        ("category: very hot", ("very hot",)),
        ("taxonomies: {tags: [hot], categories: [cheap]}", ("hot", "cheap")),
        ("tags: [hot]\nextra: {tags: {of: theme}, categories: {of: theme}}", ("hot",)),
    ]:
        assert parse(build_yaml_file(f"title: Soup\n{lines}")).content["tags"] == list(tags)


def test_title_that_resembles_another_type_is_text() -> None:
    for value, title in [("1.5", "1.5"), ("2015-05-15", "2015-05-15"), ('" S "', " S ")]:
        assert parse(build_yaml_file(f"title: {value}")).content["title"] == title
