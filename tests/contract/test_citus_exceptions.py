"""The list of tests that `make test-citus` leaves out names tests that exist, each once and with a reason."""

import re
from itertools import groupby

from tests.citus.__main__ import EXCEPTIONS
from tests.deployment.processes import ROOT

LINES = EXCEPTIONS.read_text().splitlines()
NAMES = [line for line in LINES if line and not line.startswith("#")]


def test_each_exception_is_a_test_of_this_project() -> None:
    for name in NAMES:
        path, _, test = name.partition("::")
        function = rf"{test.split('::')[-1].partition('[')[0]}\(" if test else "test_"
        assert re.search(f"^ *def {function}", (ROOT / path).read_text(), re.MULTILINE), name


def test_exceptions_are_named_once() -> None:
    assert len(NAMES) == len(set(NAMES))


def test_each_group_of_exceptions_begins_with_its_reason() -> None:
    groups = [list(lines) for is_empty, lines in groupby(LINES, key=lambda line: not line) if not is_empty]

    assert len(groups) > 2
    assert all(group[0].startswith("# ") for group in groups)
