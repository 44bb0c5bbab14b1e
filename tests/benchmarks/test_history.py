"""A request that has become heavier than the newest figures of the same Python is reported."""

import pytest

from benchmarks.history import FIELDS, HISTORY, compare, find_newest_row, read_rows

FOUND = {"post": 102.9, "page10": 200.0}


def make_row(python: str, post: str) -> dict[str, str]:
    return {"python": python, "instructions post": post, "instructions page10": "200"}


def test_newest_row_of_the_same_python_is_compared() -> None:
    rows = [make_row("3.11", "100"), make_row("3.11", "101"), make_row("3.12", "90")]

    assert find_newest_row(rows, "3.11") == rows[1]
    assert find_newest_row(rows, "3.13") is None


@pytest.mark.parametrize(("post", "status"), [("100", 0), ("99.5", 1)])
def test_more_than_three_percent_more_instructions_fail(
    post: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(FOUND, make_row("3.11", post)) == status
    assert ("too heavy" in capsys.readouterr().out) == bool(status)


def test_another_python_is_not_compared() -> None:
    assert compare(FOUND, None) == 0


def test_history_has_the_columns_that_are_written() -> None:
    assert all(tuple(row) == tuple(FIELDS) for row in read_rows(HISTORY))
