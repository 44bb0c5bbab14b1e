"""Versions of resources, and entity tags that contain them."""

import pytest

from contentapi.core.entity_tags import ExpectedVersion, parse_version, require_version
from contentapi.core.errors import Conflict


@pytest.mark.parametrize("text", ["7", '"7"', "7-c0ffee", '"7-c0ffee"'])
def test_version_is_parsed_alone_and_from_an_entity_tag(text: str) -> None:
    assert parse_version(text) == "7"


@pytest.mark.parametrize(
    "text",
    [
        *("", '"', '"7', '7"', "v7", "-7", "7-", 'W/"7-c0ffee"', '"c0ffee"', "\u0667", "*", '""', " 7", "7 ", "+7"),
        *('"7-c0ffee', '7-c0ffee"', "7.0", '"7""', '"7-c0"ffee"', "7-c0 ffee", '"7", "8"', "7\n", "\0"),
    ],
)
def test_invalid_version_is_none(text: str) -> None:
    assert parse_version(text) is None


@pytest.mark.parametrize("expected", [None, "7", '"7-c0ffee"', frozenset({"6", "7"})])
def test_expected_version_is_accepted(expected: ExpectedVersion) -> None:
    require_version("post", 7, expected)


@pytest.mark.parametrize("expected", ["6", "", "07", "x", "77", frozenset({"6"}), frozenset[str]()])
def test_other_version_raises_conflict_with_the_current_version(expected: ExpectedVersion) -> None:
    with pytest.raises(Conflict, match="Version conflict: the post is at version 7"):
        require_version("post", 7, expected)
