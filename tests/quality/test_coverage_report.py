"""The coverage report: its figures and its problems."""

from typing import Any

from tests.quality.coverage_report import count, count_packages, find_problems


def build_file_report(
    *, lines: int, missing: list[int], branches: int = 0, not_taken: list[list[int]] | None = None
) -> Any:
    not_taken = not_taken or []
    summary = {
        "num_statements": lines,
        "covered_lines": lines - len(missing),
        "num_branches": branches,
        "covered_branches": branches - len(not_taken),
    }
    return {"summary": summary, "missing_lines": missing, "missing_branches": not_taken}


REPORT = {
    "files": {
        "a/as_int.py": build_file_report(lines=10, missing=[], branches=4),
        "a/part.py": build_file_report(lines=10, missing=[3, 7], branches=4, not_taken=[[2, 3]]),
        "b/empty.py": build_file_report(lines=0, missing=[]),
    }
}


def test_lines_and_branches_are_added_up() -> None:
    assert str(count(REPORT["files"].values())) == "89.29 % (18 of 20 lines, 7 of 8 branches)"


def test_each_package_has_its_own_percentage() -> None:
    packages = count_packages(REPORT)

    assert {package: counts.percent for package, counts in packages.items()} == {"a": 100 * 25 / 28, "b": 100}


def test_total_at_the_threshold_passes() -> None:
    assert list(find_problems(REPORT, 89.28, ["a/as_int.py"])) == []
    assert list(find_problems(REPORT, 89.3, [])) == [
        "The coverage is 89.29 %; at least 89.3 % is required (fail_under)."
    ]


def test_uncovered_part_of_a_file_to_cover_in_full_is_a_problem() -> None:
    assert list(find_problems(REPORT, 0, ["a/part.py", "a/moved.py"])) == [
        "a/part.py must be covered in full; uncovered lines: 3, 7.",
        "a/part.py must be covered in full; uncovered branches: 2 to 3.",
        "a/moved.py must be covered in full, and was not measured.",
    ]
