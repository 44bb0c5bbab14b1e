"""Report the coverage that `make coverage` measured, by package. `python -m tests.quality.coverage_report`.

Fails when the total is below `fail_under`, or when a file that must be covered in full has an uncovered line or branch.
Both are set in pyproject.toml.
"""

import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coverage import Coverage

from tests.quality.configuration import ROOT, read_table

Report = Mapping[str, Any]  # coverage.py's JSON report


class Counts(NamedTuple):
    """The lines and branches of some code, and how many of them the tests execute."""

    lines: int = 0
    covered_lines: int = 0
    branches: int = 0
    covered_branches: int = 0

    @property
    def percent(self) -> float:
        """Return the covered share of lines and branches together, which is coverage.py's figure too."""
        total = self.lines + self.branches
        return 100 * (self.covered_lines + self.covered_branches) / total if total else 100.0

    def __str__(self) -> str:
        return (
            f"{self.percent:.2f} % ({self.covered_lines} of {self.lines} lines, "
            f"{self.covered_branches} of {self.branches} branches)"
        )


def main() -> int:
    os.chdir(ROOT)
    report = read_report()
    for package, counts in count_packages(report).items():
        print(f"{package:30} {counts}")
    print(f"\nCoverage: {count(report['files'].values())}")
    fail_under = read_table("coverage", "report")["fail_under"]
    covered_in_full = read_table("contentapi", "coverage")["covered_in_full"]
    problems = list(find_problems(report, fail_under, covered_in_full))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def read_report() -> Report:
    """Return the JSON report of the data that the tests left."""
    coverage = Coverage()
    coverage.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        coverage.json_report(outfile=file.name)
        report: Report = json.loads(Path(file.name).read_bytes())
    return report


def count(files: Iterable[Report]) -> Counts:
    summaries = [file["summary"] for file in files]
    names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    return Counts(*(sum(summary[name] for summary in summaries) for name in names))


def count_packages(report: Report) -> dict[str, Counts]:
    packages = defaultdict(list)
    for path, file in report["files"].items():
        packages[str(Path(path).parent)].append(file)
    return {package: count(files) for package, files in sorted(packages.items())}


def find_problems(report: Report, fail_under: float, covered_in_full: Sequence[str]) -> Iterator[str]:
    """Yield each reason to fail."""
    total = count(report["files"].values())
    if total.percent < fail_under:
        yield f"The coverage is {total.percent:.2f} %; at least {fail_under} % is required (fail_under)."
    for path in covered_in_full:
        file = report["files"].get(path)
        if file is None:
            yield f"{path} must be covered in full, and was not measured."
            continue
        lines = ", ".join(map(str, file["missing_lines"]))
        branches = ", ".join(f"{start} to {end}" for start, end in file["missing_branches"])
        if lines:
            yield f"{path} must be covered in full; uncovered lines: {lines}."
        if branches:
            yield f"{path} must be covered in full; uncovered branches: {branches}."


if __name__ == "__main__":
    sys.exit(main())
