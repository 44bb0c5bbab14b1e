"""Look up known vulnerabilities of the locked dependencies with pip-audit. `python -m tests.quality.audit`.

A vulnerability fails the run unless pyproject.toml accepts it with a reason. Where no database can be reached, the run
says so and succeeds; pip-audit itself may report "No known vulnerabilities found" there.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.quality.configuration import ROOT, read_table

LOCKS = ("requirements.txt", "requirements-dev.txt")
SERVICES = ("pypi", "osv")  # tried in this order until one answers
SOCKET_TIMEOUT = 5  # seconds
TIMEOUT = 120  # seconds for one service


class Audit(NamedTuple):
    """The findings of one service, by package and version; `skipped` are the packages it does not know."""

    findings: Mapping[str, Sequence[Mapping[str, Any]]]
    skipped: Sequence[str]


def main() -> int:
    audit = next((audit for audit in map(run_audit, SERVICES) if audit is not None), None)
    if audit is None:
        print(f"NOT AUDITED: no vulnerability database can be reached from here (tried: {', '.join(SERVICES)}).")
        return 0
    accepted = read_table("contentapi", "audit")["accepted"]
    problems = list(find_problems(audit, accepted))
    for note in find_notes(audit, accepted):
        print(f"note: {note}")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"Audited {len(audit.findings)} packages; vulnerabilities that are not accepted: {len(problems)}.")
    return 1 if problems else 0


def run_audit(service: str) -> Audit | None:
    """Return the findings of a service; None where it cannot be reached."""
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service, "--format", "json"]
    command += ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", str(SOCKET_TIMEOUT)]
    for lock in LOCKS:
        command += ["--requirement", str(ROOT / lock)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return None
    return parse_output(done.stdout)


def parse_output(output: str) -> Audit | None:
    """Read pip-audit's JSON. None where there is none, or no package was found: the database was not reached."""
    try:
        dependencies = json.loads(output)["dependencies"]
    except json.JSONDecodeError:
        return None
    findings = {f"{each['name']} {each['version']}": each["vulns"] for each in dependencies if "vulns" in each}
    skipped = [each["name"] for each in dependencies if "skip_reason" in each]
    return Audit(findings, skipped) if findings else None


def find_problems(audit: Audit, accepted: Mapping[str, str]) -> Iterator[str]:
    """Yield each vulnerability that is not accepted. `accepted` maps ids (CVE, GHSA or PYSEC) to reasons."""
    for package, vulnerabilities in audit.findings.items():
        for vulnerability in vulnerabilities:
            ids = ids_of(vulnerability)
            if ids.isdisjoint(accepted):
                fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
                yield f"{package}: {', '.join(sorted(ids))}, fixed in {fixed}."


def find_notes(audit: Audit, accepted: Mapping[str, str]) -> Iterator[str]:
    found = {name for findings in audit.findings.values() for finding in findings for name in ids_of(finding)}
    for name, reason in accepted.items():
        yield f"{name} is accepted: {reason}" if name in found else f"{name} is accepted, but not found any more."
    if audit.skipped:
        yield f"not audited, unknown to the database: {', '.join(audit.skipped)}."


def ids_of(vulnerability: Mapping[str, Any]) -> set[str]:
    return {vulnerability["id"], *vulnerability["aliases"]}


if __name__ == "__main__":
    sys.exit(main())
