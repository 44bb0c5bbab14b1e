"""Mutants: their description, and the equivalent ones that are skipped."""

import tomllib

import pytest

from tests.quality.mutation import NOTICED, Mutant, describe, describe_exit, is_equivalent, read_changed_lines

DIFF = """\
--- contentapi/core/policy.py
+++ contentapi/core/policy.py
@@ -1,3 +1,3 @@
 def f(a):
-    return a and b
+    return a or b
"""


def test_changed_lines_are_read_from_the_diff() -> None:
    assert read_changed_lines(DIFF.splitlines()) == ("return a and b", "return a or b")


def test_mutant_whose_tests_could_not_run_is_not_noticed() -> None:
    assert describe_exit(255) not in NOTICED
    assert {describe_exit(code) for code in (1, -24)} <= NOTICED


@pytest.mark.parametrize("before", ["return a", "return 'a'", 'return "a"', "return 'a', \"b\"", "return (\na\n)"])
def test_mutant_is_printed_as_an_entry_of_the_list(before: str) -> None:
    mutant = Mutant("policy.reach", before, "return None")

    [entry] = tomllib.loads(describe(mutant))["accepted"]

    assert Mutant(entry["function"], entry["before"], entry["after"]) == mutant


@pytest.mark.parametrize(
    ("before", "after", "equivalent"),
    [
        ('x = cast("A", y)', 'x = cast("XXAXX", y)', True),
        ('x = cast("A", y)', "x = cast(None, y)", True),
        ('x = cast("A", y)', 'x = cast("A", None)', False),
        ('x = broadcast("A", y)', "x = broadcast(None, y)", False),
    ],
)
def test_mutant_of_the_type_of_a_cast_is_equivalent(before: str, after: str, *, equivalent: bool) -> None:
    assert is_equivalent(Mutant("f", before, after)) is equivalent
