"""The doctor: all findings about a deployment, from the settings to the disks. See `manage.py doctor`."""

import logging
from collections.abc import Callable, Iterable

from contentapi.health.database_findings import inspect_database
from contentapi.health.findings import Finding, Findings, problem
from contentapi.health.host_findings import inspect_disks, inspect_keys, inspect_redis, inspect_settings

LOG = logging.getLogger("contentapi.health")
PARTS: tuple[Callable[[], Findings], ...] = (
    inspect_settings,
    inspect_database,
    inspect_keys,
    inspect_redis,
    inspect_disks,
)


def examine() -> Findings:
    """Yield the findings of all parts. A part that fails is a problem, and does not end the others."""
    for part in PARTS:
        try:
            yield from part()
        except (Exception, SystemExit):
            LOG.exception("%s failed.", part.__name__)
            name = part.__name__.removeprefix("inspect_")
            yield problem(name, "The check itself failed.", "Report this, with the traceback in the log.")


def format_finding(finding: Finding) -> str:
    remedy = f"\n{'':9}Remedy: {finding.remedy}" if finding.remedy else ""
    return f"{finding.status:8} {finding.check}: {finding.message}{remedy}"


def summarise(findings: Iterable[Finding]) -> str:
    statuses = [finding.status for finding in findings]
    return f"Problems: {statuses.count('problem')}. Warnings: {statuses.count('warning')}."
