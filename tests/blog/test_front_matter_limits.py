"""Front matter for which the parsers take very long: it is refused before they read it, and other files are not."""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import yaml

from blog.files import syntax
from blog.files.syntax import InvalidFile, load_front_matter, parse_text

MERGE = "the front matter has a merge key (<<). Write out the keys."


def test_merge_key_is_refused() -> None:
    for text in [
        "a: &a {x: 1}\nb: {<<: *a}",
        "a: &a {x: 1}\nb:\n  <<: [*a, *a]",
        "a: &m <<\nb: {*m : {x: 1}}",
        "b: {!!merge x: {y: 1}}",
        "c: !!set {<<: {y: 1}}",
    ]:
        with pytest.raises(InvalidFile, match=re.escape(MERGE)):
            load_front_matter(text, "YAML")


def test_value_that_yaml_cannot_read_or_reads_in_base_60_is_its_text() -> None:
    for text, value in [
        ("a: 12:30:00", "12:30:00"),
        ("a: [-1_0:20]", ["-1_0:20"]),
        ("a: 1_:2", "1_:2"),
        ("a: 1:20.5", "1:20.5"),
        ('a: !!int "1:2"', "1:2"),
        ('a: !!int {=: "1:2"}', "1:2"),
        ("a: " + ":".join(["1"] * 9999), ":".join(["1"] * 9999)),
        ("a: 2015-02-30", "2015-02-30"),
        ("a: !!float x", "x"),
        ("a: !ruby/sym x", "x"),
    ]:
        assert load_front_matter(text, "YAML") == {"a": value}


def test_yaml_that_looks_like_it_is_accepted() -> None:
    for text in [
        "a: '12:30'",
        "a: 2024-01-09 12:30:00",
        "'<<': 1",
        "a: x << y",
        "a: !!str 1:2",
        "a: |\n  <<: 12:30\n",
        "a: &a [x]\nb: [*a, *a]",
    ]:
        assert load_front_matter(text, "YAML") == yaml.safe_load(text)


def test_front_matter_has_at_most_64_000_bytes() -> None:
    for begin, end in [("+++\na = '", "'\n+++\n"), ("---\na: '", "'\n---\n"), ('{"a": "', '"}\n')]:
        limit = syntax.MAX_FRONT_MATTER
        room = limit - 20
        parse_text(f"{begin}{'x' * room}{end}{'body ' * 50_000}".encode())

        for text in ("x" * (limit + 1), "ö" * (room // 2 + 20)):
            with pytest.raises(InvalidFile, match=r"at most 64,000"):
                parse_text(f"{begin}{text}{end}".encode())


def test_text_of_yaml_aliases_is_counted() -> None:
    for value in ["x" * 30_000, f"[{','.join(repr('') for _ in range(1000))}]"]:
        text = f"a: &a {value}\nb: [{', '.join(['*a'] * 500)}]"

        with pytest.raises(InvalidFile, match=r"^b makes more than 64,000 values and characters\."):
            parse_text(f"---\n{text}\n---\n".encode())


HOSTILE: dict[str, Callable[[int], str]] = {
    "merge keys": lambda number: (
        "---\na0: &a0 {x: 1}\n"
        + "".join(
            f"a{each}: &a{each} {{<<: [{', '.join([f'*a{each - 1}'] * 10)}]}}\n" for each in range(1, 2 + number // 50)
        )
        + "---\n"
    ),
    "base 60": lambda number: f"---\na: 1{':1' * number}\n---\n",
    "aliases": lambda number: "---\na: &a [x]\nb: [" + "*a, " * number + "]\n---\n",
    "brackets": lambda number: f"+++\na = {'[' * number}\n+++\n",
    "braces": lambda number: f"---\na: {'{a: ' * number}\n---\n",
    "quotes": lambda number: "+++\n" + '\\"""x\n' * number + "+++\n",
    "JSON": lambda number: '{"a":' * number,
}


@pytest.fixture
def collect_no_garbage() -> Iterator[None]:
    """Leave the garbage of other tests: in a deep recursion, a finalizer would fail."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.thorough
@pytest.mark.usefixtures("collect_no_garbage")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_front_matter_of_any_size_is_read_or_refused(name: str) -> None:
    """An input that is not refused in time lets this test run for minutes."""
    for number in (10, 6000):
        with suppress(InvalidFile):
            parse_text(HOSTILE[name](number).encode())
