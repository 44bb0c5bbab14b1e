"""The audit of the lock files: the output of pip-audit, and the problems found in it."""

import json
from typing import Any

from tests.quality.audit import find_notes, find_problems, parse_output

FINDING = {"id": "PYSEC-1", "aliases": ["CVE-1", "GHSA-1"], "fix_versions": ["2.1", "3.0"]}


def build_output(*dependencies: dict[str, Any]) -> str:
    return json.dumps({"dependencies": list(dependencies), "fixes": []})


def build_package(*vulnerabilities: dict[str, Any]) -> dict[str, Any]:
    return {"name": "thing", "version": "2.0", "vulns": list(vulnerabilities)}


SKIPPED = {"name": "other", "skip_reason": "Dependency not found on PyPI and could not be audited: other (1.0)"}


def test_output_without_a_database_is_not_an_audit() -> None:
    assert parse_output("") is None
    assert parse_output("Traceback: ...") is None
    assert parse_output(build_output(SKIPPED)) is None


def test_vulnerability_is_a_problem_unless_one_of_its_ids_is_accepted() -> None:
    audit = parse_output(build_output(build_package(FINDING), SKIPPED))

    assert audit is not None
    assert list(find_problems(audit, {})) == ["thing 2.0: CVE-1, GHSA-1, PYSEC-1, fixed in 2.1, 3.0."]
    assert list(find_problems(audit, {"CVE-1": "not used"})) == []


def test_accepted_and_unaudited_packages_are_noted() -> None:
    audit = parse_output(build_output(build_package(FINDING), SKIPPED))

    assert audit is not None
    assert list(find_notes(audit, {"CVE-1": "not used", "CVE-2": "gone"})) == [
        "CVE-1 is accepted: not used",
        "CVE-2 is accepted, but not found any more.",
        "not audited, unknown to the database: other.",
    ]


def test_packages_without_vulnerabilities_are_audited() -> None:
    audit = parse_output(build_output(build_package()))

    assert audit is not None
    assert (len(audit.findings), list(find_problems(audit, {}))) == (1, [])
