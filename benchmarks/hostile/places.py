"""The folders, the environment and the machine limits of the measurement."""

import resource

from benchmarks.places import ROOT, clean_environment

WORK = ROOT / "var" / "hostile"
LOGS = WORK / "logs"


def server_environment() -> dict[str, str]:
    """Return the environment of `make run`, with the default limits and its own data folder."""
    return clean_environment() | {"CONTENTAPI_VAR": str(WORK), "WEB_CONCURRENCY": "2"}


def raise_open_files_limit() -> None:
    """Allow this process and its children as many open files as the system permits."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
