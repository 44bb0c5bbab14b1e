"""Measure the coverage of servers and commands too, which tests start as processes of their own.

A process starts coverage.py if its environment has these variables, and leaves a data file that pytest-cov adds to its
own. A checkout (`tests.deployment.checkout`) is not measured: its files are
copies.
"""

import os
from pathlib import Path

import pytest

from tests.quality.configuration import ROOT

VARIABLES = {
    "COVERAGE_PROCESS_START": str(Path(__file__).with_name("processes.toml")),
    "COVERAGE_FILE": str(ROOT / ".coverage"),
}


def measure_processes(config: pytest.Config) -> None:
    """Let the processes of the tests measure their coverage, if this run of pytest does."""
    is_controller = config.getoption("numprocesses", default=None) and not hasattr(config, "workerinput")
    if config.getoption("cov_source", default=[]) and not is_controller:
        os.environ.update(VARIABLES)
