"""Markdown files that cannot be understood: each is refused in words, and none stops an import."""

from contextlib import suppress
from pathlib import PurePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog import front_matter
from blog.front_matter import InvalidFile
from tests.blog.test_front_matter import HERE, toml, yaml

LONG_NUMBER = "0x" + "f" * 5000  # more digits than Python writes down
NUL = "the front matter contains a NUL character or a lone surrogate"
STATES = "draft, scheduled, published, archived"
BAD_FILES = [
    (b"", "does not begin with front matter (+++ or ---)"),
    (b"# Soup\n", "does not begin with front matter (+++ or ---)"),
    (b"++++\n++++\n", "does not begin with front matter (+++ or ---)"),
    (b'+++\ntitle = "Soup"\n', "the front matter has no second +++"),
    (b"---\ntitle: Soup\n+++\n ---\n", "the front matter has no second ---"),
    (b"+++\n\xff\n+++\n", "not UTF-8 (byte 4)"),
    (toml('title = "Soup"', "a\0b"), "contains a NUL character"),
    (toml("title"), "the front matter is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 6)"),
    (yaml("- Soup"), "the front matter is not a table of names and values"),
    (yaml("title: ''"), "has no title"),
    (yaml("title: true"), "has no title"),
    (yaml("title: [Soup]"), "has no title"),
    (toml('title = " "'), "has no title"),
    (toml(""), "has no title"),
    (toml('title = "So\\u0000up"'), NUL),
    (yaml('title: "So\\ud800up"'), NUL),
    (toml('title = "Soup"\nauthors = ["\\u0000"]'), NUL),
    (toml('title = "Soup"\ntags = ["a\\u0000"]'), NUL),
    (toml('title = "Soup"\ndraft = "no"'), "draft is neither true nor false: 'no'"),
    (toml('title = "Soup"\nstatus = "private"'), f"status is none of {STATES}: 'private'"),
    (toml('title = "Soup"\nstatus = ["draft"]'), f"status is none of {STATES}: a list"),
    (toml('title = "Soup"\ndraft = true\nstatus = "published"'), "draft is true, but status is published"),
    (toml('title = "Soup"\nstatus = "scheduled"'), 'status = "scheduled" and publishAt go together'),
    (toml('title = "Soup"\npublishAt = 2100-01-01'), 'status = "scheduled" and publishAt go together'),
    (toml('title = "Soup"\nstatus = "scheduled"\npublishAt = "soon"'), "publishAt is not a date: 'soon'"),
    (toml('title = "Soup"\ndate = "soon"'), "date is not a date: 'soon'"),
    (toml('title = "Soup"\ndate = 2015'), "date is not a date: 2015"),
    (toml('title = "Soup"\nupdated = "soon"'), "updated is not a date: 'soon'"),
    (toml('title = "Soup"\npath = "2015/02/30/soup"'), "2015/02/30 is not a date"),
    (toml('title = "Soup"\ntags = 5'), "tags is not a list of strings"),
    (toml('title = "Soup"\ntags = [["hot"]]'), "tags is not a list of strings"),
    (toml('title = "Soup"\nauthors = [{email = "i@example.invalid"}]'), "authors is not a list of strings"),
]


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_a_bad_file_is_refused_in_words(content: bytes, message: str) -> None:
    with pytest.raises(InvalidFile) as refusal:
        front_matter.parse_post(content, HERE)

    assert str(refusal.value) == message


def test_a_name_with_a_day_that_is_none_is_a_bad_file() -> None:
    with pytest.raises(InvalidFile, match=r"^2015-13-01 is not a date$"):
        front_matter.parse_post(toml('title = "Soup"'), PurePath("2015-13-01-soup.md"))


@pytest.mark.parametrize(
    "content",
    [
        yaml("title: [Soup"),
        yaml("title: " + "[" * 5000),
        toml("title = " + "[" * 5000),
        yaml("title: !!python/name:os.system x"),
        yaml("title: 2015-02-30"),
        yaml("title: Soup\ndate: 2015-05-15 10:00:00 +99:99"),
        yaml("title: Soup\ndate: 9999-12-31 23:00:00 -10:00"),
        yaml("title: Soup\n? [a, b]\n: c"),
        yaml('title: !!int ""'),
        yaml('title: !!float ""'),
        yaml("title: !!bool Soup"),
        yaml("title: !!timestamp Soup"),
        toml(f"title = {LONG_NUMBER}"),
        toml(f'title = "Soup"\ndate = {LONG_NUMBER}'),
        toml(f'title = "Soup"\ndraft = {LONG_NUMBER}'),
        toml(f'title = "Soup"\ntags = [{LONG_NUMBER}]'),
        toml(f'title = "Soup"\nauthor = {LONG_NUMBER}'),
    ],
)
def test_front_matter_that_its_own_reader_stumbles_over_is_a_bad_file(content: bytes) -> None:
    with pytest.raises(InvalidFile):
        front_matter.parse_post(content, HERE)


def test_a_bad_file_of_aliases_of_aliases_is_refused_in_few_words() -> None:
    lines = ["a: &a0 [x, x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 11))]

    with pytest.raises(InvalidFile) as refusal:
        front_matter.parse_post(yaml("\n".join([*lines, "title: Soup", "date: *a10"])), HERE)

    assert len(str(refusal.value)) < 1000


FENCE = st.sampled_from(["+++", "---"])
PIECES = st.sampled_from(
    ["title", "date", "tags", "authors", "draft", "=", ": ", "!!int ", "!!bool ", "&a ", "*a", '"']
)
SOUPS = st.lists(PIECES | st.text(max_size=6) | st.sampled_from(["\n", "[", "]", "{", "}", "0x1", "2015-05-15"]))


@settings(deadline=None)
@given(
    content=st.binary() | st.builds(lambda fence, soup: f"{fence}\n{''.join(soup)}\n{fence}\n".encode(), FENCE, SOUPS)
)
def test_whatever_a_file_holds_nothing_but_bad_file_is_raised(content: bytes) -> None:
    with suppress(InvalidFile):
        post = front_matter.parse_post(content, HERE)

        assert post is None or post.title.strip()
