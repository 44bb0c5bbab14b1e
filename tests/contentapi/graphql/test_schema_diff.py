"""`check_schema`: its output and exit status for changes of the SDL."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError, call_command
from graphql import build_schema, print_schema

from contentapi.graphql.schema_diff import list_unclear_deprecations
from contentapi.schema import SCHEMA


class CommandResult(NamedTuple):
    """The output of the command, with `FILE` for the path of its file, and its error."""

    out: list[str]
    err: str
    failure: str | None


@pytest.fixture
def released(tmp_path: Path) -> Path:
    return tmp_path / "released.graphql"


def check(file: Path, capsys: pytest.CaptureFixture[str]) -> CommandResult:
    failure = None
    try:
        call_command("check_schema", against=file)
    except CommandError as error:
        failure = str(error).replace(str(file), "FILE")
    out, err = capsys.readouterr()
    return CommandResult(out.splitlines(), err.replace(str(file), "FILE"), failure)


@cache
def print_current_sdl() -> str:
    return print_schema(SCHEMA)


def change_sdl(*changes: tuple[str, str]) -> str:
    """Return the current SDL, with a text in place of each regular expression, as a released SDL."""
    sdl = print_current_sdl()
    for now, then in changes:
        sdl, count = re.subn(now, then, sdl, count=1)
        assert count == 1
    return sdl


def test_breaking_change_is_printed_and_fails(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ("commentCount: Int!", "commentCount: Int! likes: Int")
    released.write_text(change_sdl(more, (r"(input AddCommentInput \{[^}]*postId: ID)!", r"\1")))

    found = check(released, capsys)

    assert sorted(found.out) == [
        "BREAKING FIELD_CHANGED_KIND: Field AddCommentInput.postId changed type from ID to ID!.",
        "BREAKING FIELD_REMOVED: Field Post.likes was removed.",
    ]
    assert (found.err, found.failure) == ("", "Against FILE: 2 breaking, 0 unclear, 0 dangerous.")


def test_dangerous_change_is_printed_and_does_not_fail(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    released.write_text(change_sdl((r'  """[^"]*"""\n  archived\n', "")))

    assert check(released, capsys) == CommandResult(
        ["DANGEROUS VALUE_ADDED_TO_ENUM: Enum value PostStatus.archived was added."],
        "Against FILE: 0 breaking, 0 unclear, 1 dangerous.\n",
        None,
    )


def test_addition_prints_nothing(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    released.write_text(change_sdl((r'  """[^"]*"""\n  viewer: Viewer\n', "")))

    assert check(released, capsys) == CommandResult([], "Against FILE: 0 breaking, 0 unclear, 0 dangerous.\n", None)


def test_current_sdl_breaks_no_client_of_the_released_sdl() -> None:
    call_command("check_schema")


def test_missing_file_or_invalid_sdl_is_an_error(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = check(released, capsys)
    released.write_text("type Query {")
    broken = check(released, capsys)
    released.write_text("type Query { post: Zebra }")
    unknown = check(released, capsys)

    assert missing.failure == "Cannot read FILE: No such file or directory."
    assert broken.failure == "FILE is not SDL: Syntax Error: Expected Name, found <EOF>."
    assert unknown.failure == "FILE is not SDL: Unknown type 'Zebra'."


UNCLEAR = [
    "Old.",
    "use `posts`.",
    "2026-11-21",
    "2026-13-21: use `posts`.",
    "2026-11-21: use posts.",
    "21 Nov: use `a`.",
]


@pytest.mark.parametrize("reason", UNCLEAR)
def test_deprecation_without_date_and_replacement_is_unclear(reason: str) -> None:
    old = f'@deprecated(reason: "{reason}")'
    schema = build_schema(
        f"""
        type Query {{ field: Int {old} other(argument: Int {old}, input: Input): Enum }}
        input Input {{ field: Int {old} }}
        enum Enum {{ value {old} }}
        """
    )

    places = ["Query.field", "Query.other(argument)", "Input.field", "Enum.value"]
    assert sorted(list_unclear_deprecations(schema)) == sorted(f"{place}: {reason}" for place in places)


def test_deprecation_without_a_reason_is_unclear() -> None:
    schema = build_schema("type Query { field: Int @deprecated }")

    assert list_unclear_deprecations(schema) == ["Query.field: No longer supported"]


@pytest.mark.parametrize("reason", ["2026-11-21: use `posts`.", "2026-11-21: use `Query.posts`, which has pages."])
def test_deprecation_with_date_and_replacement_is_clear(reason: str) -> None:
    schema = build_schema(f'type Query {{ field: Int @deprecated(reason: "{reason}") }}')

    assert list_unclear_deprecations(schema) == []
