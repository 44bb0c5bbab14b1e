"""Invalid Markdown files: parsing raises InvalidFile with the reason, and no other exception."""

from contextlib import suppress
from pathlib import PurePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.syntax import InvalidFile
from tests.blog.markdown_files import parse_post
from tests.blog.test_front_matter import HERE, build_toml_file, build_yaml_file
from tests.thoroughness import scale_examples

LONG_NUMBER = "0x" + "f" * 5000  # more digits than Python writes down
NUL = "contains a NUL character or a lone surrogate. Remove it."
NO_FRONT_MATTER = "does not begin with front matter. The first line must be +++ (TOML), --- (YAML) or { (JSON)."
WRITE_DATE = "Write the date as 2024-01-09."
WRITE_WORDS = 'Write a list such as ["harbour", "history"].'
WRITE_NAMES = 'Write names such as ["Ines Falk", "Jo Berg"].'
BAD_FILES = [
    (b"", NO_FRONT_MATTER),
    (b"# Soup\n", NO_FRONT_MATTER),
    (b"++++\n++++\n", NO_FRONT_MATTER),
    (b'+++\ntitle = "Soup"\n', "the front matter has no end. Write +++ on a line of its own after it."),
    (b"---\ntitle: Soup\n+++\n ---\n", "the front matter has no end. Write --- on a line of its own after it."),
    (b"+++\n\xff\n+++\n", "not UTF-8 (byte 4). Save the file in UTF-8."),
    (build_toml_file('title = "Soup"', "a\0b"), "contains a NUL character. Remove it."),
    (rb'{"title": "Soup", "a\u0000\ud800": 1}', f"a\N{REPLACEMENT CHARACTER}? {NUL}"),  # the report can store it
    (
        build_toml_file("title"),
        "the front matter is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 6)",
    ),
    (
        build_yaml_file("- Soup"),
        "the front matter is not a table of names and values. Write lines such as title: Soup.",
    ),
    (build_yaml_file("title: [Soup]"), "title is not a text"),
    (build_yaml_file("Title: Soup\ntitle: Salad"), "the front matter has the key title in two spellings. Remove one."),
    (build_yaml_file("TAGS: [a]\nTags: [b]"), "the front matter has the key tags in two spellings. Remove one."),
    (build_yaml_file("title: Soup\ndate: 2015-02-30"), f"date is not a date: '2015-02-30'. {WRITE_DATE}"),
    *(
        (
            build_yaml_file(f"title: Soup\ndate: 2020-01-01\n{key}: {value}"),
            f"{name} is not a date: {shown}. {WRITE_DATE}",
        )
        for key, name, value, shown in (
            ("PublishDate", "publishDate", "02-2020", "'02-2020'"),
            ("pubdate", "pubdate", "soon", "'soon'"),
            ("published", "published", "0", "0"),
            ("published", "published", "[1]", "a list"),
            ("published", "published", "maybe", "'maybe'"),
        )
    ),
    (build_toml_file('title = "So\\u0000up"'), f"title {NUL}"),
    (build_yaml_file('title: "So\\ud800up"'), f"title {NUL}"),
    (build_toml_file('title = "Soup"\nauthors = ["\\u0000"]'), f"authors {NUL}"),
    (build_toml_file('title = "Soup"\ntags = ["a\\u0000"]'), f"tags {NUL}"),
    (build_toml_file('title = "Soup"\npublishAt = 2100-01-01'), 'status = "scheduled" and publishAt go together'),
    (
        build_toml_file('title = "Soup"\nstatus = "scheduled"\npublishAt = "soon"'),
        f"publishAt is not a date: 'soon'. {WRITE_DATE}",
    ),
    (build_toml_file('title = "Soup"\ndate = "soon"'), f"date is not a date: 'soon'. {WRITE_DATE}"),
    (build_toml_file('title = "Soup"\nupdated = "soon"'), f"updated is not a date: 'soon'. {WRITE_DATE}"),
    (build_toml_file('title = "Soup"\npath = "2015/02/30/soup"'), f"2015/02/30 is not a date. {WRITE_DATE}"),
    (build_toml_file('title = "Soup"\ntags = {hot = 1}'), f"tags is not a list of words. {WRITE_WORDS}"),
    (build_toml_file('title = "Soup"\nextra = {x = ["\\u0000"]}'), f"extra {NUL}"),
    (
        b"{% include x %}\n",
        "begins with {, but the front matter is not JSON: "
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    (
        b'{"title": "Soup"} Boil.',
        "the text begins on the last line of the front matter. Begin it on a line of its own.",
    ),
    (
        build_toml_file('title = "Soup"\nauthors = [{email = "i@example.invalid"}]'),
        f"authors has an author without a name. {WRITE_NAMES}",
    ),
]


def test_invalid_file_raises_bad_file_with_the_reason() -> None:
    for content, message in BAD_FILES:
        with pytest.raises(InvalidFile) as refusal:
            parse_post(content, HERE)

        assert str(refusal.value) == message


def test_invalid_date_in_a_file_name_raises_bad_file() -> None:
    with pytest.raises(InvalidFile, match=r"^2015-13-01 is not a date\. Write the date as 2024-01-09\.$"):
        parse_post(build_toml_file('title = "Soup"'), PurePath("2015-13-01-soup.md"))


def test_front_matter_that_crashes_its_parser_raises_bad_file() -> None:
    for content in [
        build_yaml_file("title: [Soup"),
        build_yaml_file("title: " + "[" * 600),
        build_toml_file("title = " + "[" * 5000),
        build_yaml_file("title: Soup\ndate: 2015-05-15 10:00:00 +99:99"),
        build_yaml_file("title: Soup\ndate: 9999-12-31 23:00:00 -10:00"),
        build_yaml_file("title: Soup\n? [a, b]\n: c"),
        build_toml_file(f"title = {LONG_NUMBER}"),
    ]:
        with pytest.raises(InvalidFile):
            parse_post(content, HERE)


FENCE = st.sampled_from(["+++", "---"])
PIECES = st.sampled_from(
    ["title", "date", "tags", "authors", "draft", "=", ": ", "!!int ", "!!bool ", "&a ", "*a", '"']
)
SOUPS = st.lists(PIECES | st.text(max_size=6) | st.sampled_from(["\n", "[", "]", "{", "}", "0x1", "2015-05-15"]))


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(2000))
@given(
    content=st.binary() | st.builds(lambda fence, soup: f"{fence}\n{''.join(soup)}\n{fence}\n".encode(), FENCE, SOUPS)
)
def test_any_other_content_is_parsed_or_raises_bad_file(content: bytes) -> None:
    with suppress(InvalidFile):
        post = parse_post(content, HERE)

        assert post is None or post.content["title"].strip()
