"""What the doctor finds: one finding for each thing that it looks at, with the remedy if it is a problem."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from contentapi.health.results import CheckResult

FindingStatus = Literal["ok", "problem", "warning", "skipped"]
Findings = Iterator["Finding"]


class Finding(NamedTuple):
    """A finding of a check. A `warning` is worth knowing; a `problem` must be solved. Messages contain no secret."""

    check: str
    status: FindingStatus
    message: str
    remedy: str = ""


def ok(check: str, message: str) -> Finding:
    return Finding(check, "ok", message)


def problem(check: str, message: str, remedy: str) -> Finding:
    return Finding(check, "problem", message, remedy)


def warning(check: str, message: str, remedy: str) -> Finding:
    return Finding(check, "warning", message, remedy)


def from_result(check: str, result: CheckResult, message: str, remedy: str) -> Finding:
    """Return the finding for the result of a check of readiness. `message` is for a result without a reason."""
    if result.status == "failed":
        return problem(check, result.reason, remedy)
    if result.status == "warning":
        return warning(check, result.reason, remedy)
    return Finding(check, "ok" if result.status == "ok" else "skipped", result.reason or message)


def format_bytes(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
