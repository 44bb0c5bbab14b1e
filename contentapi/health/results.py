"""The result of one check, and how checks are run."""

import logging
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

LOG = logging.getLogger("contentapi.health")
Status = Literal["ok", "failed", "unknown", "skipped", "warning"]


class CheckResult(NamedTuple):
    """The status of one check, the reason if it is not ok, and the remedy, which `doctor` names.

    `unknown`: not checked, because another check failed. `skipped`: there is nothing to check. `warning`: a failure
    that does not prevent readiness. The reason never contains a secret, a URL or a host.
    """

    status: Status
    reason: str = ""
    remedy: str = ""

    @property
    def is_problem(self) -> bool:
        return self.status in ("failed", "unknown")


Results = dict[str, CheckResult]  # by the name of the check
OK = CheckResult("ok")


def failed(reason: str, remedy: str = "") -> CheckResult:
    return CheckResult("failed", reason, remedy)


def run_check(names: Sequence[str], run: Callable[[], Results]) -> Results:
    """Return the results of a check. If it raises an error, each of its results is a failure."""
    try:
        return run()
    except (Exception, SystemExit):
        LOG.exception("The check of %s failed.", names[0])
        return dict.fromkeys(names, failed("The check itself failed. See the log.", "Report this, with the traceback."))
