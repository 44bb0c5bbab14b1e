"""Register the system checks that look at a running deployment: at its database, its Redis, its keys and its disks.

They run only if the caller permits the use of a database, as `doctor` and `check --deploy --database default` do. The
hint of a message is the remedy. A problem must be solved, and a warning is worth knowing. A note states what is as it
should be or, with a hint, what was not checked. Messages contain no secret.
"""

import logging
from collections.abc import Callable, Collection, Iterator
from typing import Any

from django.core import checks
from django.core.checks import CheckMessage

from contentapi.health.results import CheckResult

LOG = logging.getLogger("contentapi.health")
DEPLOYMENT_TAG = "deployment"

Messages = Iterator[CheckMessage]


def register_check(check: Callable[[], Messages]) -> Callable[[], Messages]:
    """Register a check. One that fails is a problem, and does not end the others."""

    @checks.register(DEPLOYMENT_TAG, checks.Tags.database, deploy=True)
    def run(databases: Collection[str] | None = None, **_: Any) -> list[CheckMessage]:
        try:
            return list(check()) if databases else []
        except (Exception, SystemExit):
            LOG.exception("%s failed.", check.__name__)
            name = check.__name__.removeprefix("check_")
            return [problem(name, "The check itself failed.", "Report this, with the traceback in the log.")]

    return check


def problem(name: str, message: str, remedy: str) -> CheckMessage:
    return checks.Error(message, hint=remedy, id=f"{DEPLOYMENT_TAG}.{name}")


def warning(name: str, message: str, remedy: str) -> CheckMessage:
    return checks.Warning(message, hint=remedy, id=f"{DEPLOYMENT_TAG}.{name}")


def note(name: str, message: str, remedy: str = "") -> CheckMessage:
    return checks.Info(message, hint=remedy or None, id=f"{DEPLOYMENT_TAG}.{name}")


def describe_result(name: str, result: CheckResult, message: str, remedy: str) -> CheckMessage:
    """Return the message for a result of readiness. `message` is for a result without a reason."""
    if result.status == "failed":
        return problem(name, result.reason, remedy)
    if result.status == "warning":
        return warning(name, result.reason, remedy)
    return note(name, result.reason or message)


def format_bytes(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
