"""Run mutmut in the folder of the project, with tests that are collected once.

mutmut lets each mutant start pytest and collect its tests, which takes longer than to run them. Here, the process that
mutmut forks for each mutant has a session of pytest with all tests, runs those of the mutant, and ends when one fails.
"""

import gc
import math
import os
import resource
import sys
import time
from collections.abc import Iterable
from ctypes import c_double
from multiprocessing.sharedctypes import RawValue
from typing import Any

from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import change_cwd
from mutmut.workers.isolation import ForkServerRunner, MutantRunner

MUTANT_LIMIT = 5  # seconds of processor time. Those of the clock, which mutmut limits, depend on other programs


class SessionRunner(PytestRunner):
    """Runs the tests of a mutant in a copy of a process that has collected them."""

    session: Any = None  # of pytest, in the process that forks
    last_kills: dict[str, c_double]  # when each test failed last, in memory that all processes share

    def warm_up(self) -> None:
        """Do nothing: the tests are collected."""

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        """Run tests, those first that failed last: the next mutant is often of the same function. Then fast ones.

        Return an exit code of pytest. `Serving` ends the process if a test fails.
        """
        if self.session is None:
            exit_code: int = super().run_tests(mutant_name=mutant_name, tests=tests)
            return exit_code
        gc.disable()  # each visit would copy memory
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + MUTANT_LIMIT, most))
        chosen = set(tests)
        items = [item for item in self.session.items if item.nodeid in chosen]
        durations, kills = state().duration_by_test, self.last_kills
        items.sort(key=lambda item: (-kills[item.nodeid].value, durations[item.nodeid]))
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return 0


class SessionServer(ForkServerRunner):
    """Forks the processes of mutants in a session of pytest."""

    def _forkserver_main(self, work_fd: int, result_fd: int) -> None:
        serve = super()._forkserver_main

        class Serving:
            """A plugin of pytest: mutants in place of the run of the tests."""

            def pytest_runtestloop(self, session: Any) -> bool:
                SessionRunner.session = session
                SessionRunner.last_kills = {item.nodeid: RawValue("d", 0) for item in session.items}
                serve(work_fd, result_fd)
                return True

            def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
                """End the process of a mutant at the first failure, which no one reads."""
                if call.excinfo is not None and call.excinfo.typename != "Skipped":
                    SessionRunner.last_kills[item.nodeid].value = time.monotonic()
                    os._exit(1)

        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends
        with change_cwd("mutants"):
            PytestRunner().execute_pytest(["-q", *config().pytest_add_cli_args_test_selection], plugins=[Serving()])

    def run_clean_tests(self, tests: Iterable[str]) -> int:  # noqa: ARG002 - the signature of mutmut
        """Do nothing: the same tests have passed when `collect_stats` ran them."""
        return 0

    def run_forced_fail(self) -> int:
        """Do nothing: if mutants had no effect, they would all survive, which tests.quality.mutation reports."""
        return 1


def build_runner(max_children: int) -> MutantRunner:
    return SessionServer(max_workers=max_children, test_runner_class=SessionRunner, test_runner_args={})


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # noqa: PTH109 - in place of the folder of this file
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # to look for plugins among the packages takes half of a start
    vars(mutmut)["get_mutant_runner"] = build_runner
    sys.argv[1:] = ["run"]
    mutmut.cli()
