"""The result of one check, and how results are combined."""

from typing import Literal, NamedTuple

Status = Literal["ok", "failed", "unknown", "skipped", "warning"]
PROBLEMS: tuple[Status, ...] = ("failed", "unknown")


class CheckResult(NamedTuple):
    """The status of one check, and the reason if it is not ok. The reason never contains a secret, a URL or a host.

    `unknown`: not checked, because another check failed. `skipped`: there is nothing to check. `warning`: a failure
    that does not prevent readiness.
    """

    status: Status
    reason: str = ""

    @property
    def is_problem(self) -> bool:
        return self.status in PROBLEMS


Results = dict[str, CheckResult]  # by the name of the check
OK = CheckResult("ok")


def failed(reason: str) -> CheckResult:
    return CheckResult("failed", reason)
