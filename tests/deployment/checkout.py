"""A checkout of this project somewhere else, run the way its README says."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import psutil

from contentapi.frontend import BUILT
from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, ROOT, run_program, start_process
from tests.deployment.template import Template


class Checkout:
    """A copy of the tracked files. It borrows what was installed and built here, so that nothing is again.

    With a template, it has run before: it has a database with the demo.
    """

    def __init__(self, folder: Path, template: Template | None = None) -> None:
        self.folder = folder
        self.runs: list[Run] = []
        folder.mkdir(parents=True)
        subprocess.run(["cp", "-a", "--parents", "-t", folder, *list_files()], cwd=ROOT, check=True)
        (folder / ".venv").symlink_to(sys.prefix)
        BUILT.mkdir(parents=True, exist_ok=True)
        (folder / "contentapi/static").mkdir(exist_ok=True)
        (folder / "contentapi/static/frontend").symlink_to(BUILT)
        if template:
            template.copy(folder / "var")

    @property
    def key(self) -> str:
        """The API key of the admin of the demo."""
        return (self.folder / "var/demo_api_key").read_text().strip()

    def run(self, *arguments: str, **variables: str) -> "Run":
        """Start `make run` in a terminal of its own, on a free port unless the variables name one."""
        ports = {"PORT": str(find_free_port()), "CONTENTAPI_STREAM_PORT": str(find_free_port())}
        variables = {**ports, **variables}
        return Run(self, ["make", "run", *arguments], self.environment(**variables))

    def serve_as_the_procfile(self, **variables: str) -> "Run":
        web = re.search(r"^web: gunicorn (.*)$", (self.folder / "Procfile").read_text(), re.MULTILINE)
        assert web
        command = [".venv/bin/python", "-m", "gunicorn", *web[1].split()]
        return Run(self, command, self.environment(PORT=str(find_free_port()), **variables))

    def manage(self, *arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        """Run an operator's command, with `given` on its standard input."""
        python, environment = self.folder / ".venv/bin/python", self.environment(**variables)
        return run_program(python, "manage.py", *arguments, given=given, cwd=self.folder, env=environment)

    def environment(self, **variables: str) -> dict[str, str]:
        secrets = ("DATABASE_URL", "JWT_PRIVATE_KEY", "JWT_SECRET", "SECRET_KEY")
        ours = (*secrets, "PORT", "DJANGO_SETTINGS_MODULE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
        others = ("CONTENTAPI", "COVERAGE")
        kept = {
            name: value for name, value in os.environ.items() if name not in ours and not any(o in name for o in others)
        }
        if "CONTENTAPI_FAST_PATH" in os.environ:  # `make slow-path`
            kept["CONTENTAPI_FAST_PATH"] = os.environ["CONTENTAPI_FAST_PATH"]
        return {**kept, "WEB_CONCURRENCY": "1", **variables}

    def processes(self) -> list[psutil.Process]:
        """Return every live process that works in this checkout, PostgreSQL's included."""
        return [process for process in psutil.process_iter() if self.is_home_of(process)]

    def is_home_of(self, process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).is_relative_to(self.folder)
        except (OSError, psutil.Error):
            return False

    def kill_everything(self) -> None:
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):  # it has just ended
                process.kill()
        for run in self.runs:
            run.process.wait(PATIENCE)
        self.wait_until_empty()

    def wait_until_empty(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.2)  # to look at all processes of a machine takes long
        left = self.processes()
        assert not left, left


def list_files() -> list[str]:
    """Return what to copy, and what Python has compiled of it: else each first process would compile everything."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    compiled = [cache_from_source(name) for name in listed if name.endswith(".py")]
    return [name for name in (*listed, *compiled) if (ROOT / name).is_file()]


class Run:
    """One start, and what it printed."""

    def __init__(
        self,
        checkout: Checkout,
        command: list[str],
        environment: dict[str, str],
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        checkout.runs.append(self)
        self.checkout = checkout
        self.port = environment.get("PORT", "8000")
        self.stream_port = environment.get("CONTENTAPI_STREAM_PORT", "8100")
        self.log = checkout.folder / f"printed-{time.monotonic_ns()}.log"

        def prepare_child() -> None:
            accept_ctrl_c()
            prepare()

        self.process = start_process(command, self.log, environment, cwd=checkout.folder, preexec_fn=prepare_child)

    @property
    def printed(self) -> str:
        return self.log.read_text()

    def wait_until_ready(self) -> "Run":
        return self.wait_for("Ctrl-C stops it")

    def wait_for(self, words: str) -> "Run":
        deadline = time.monotonic() + PATIENCE
        while words not in self.printed:
            assert self.process.poll() is None, self.printed
            assert time.monotonic() < deadline, self.printed
            time.sleep(0.05)
        return self

    def interrupt(self) -> None:
        """Press Ctrl-C: the terminal sends SIGINT to everything in the foreground."""
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(PATIENCE)

    def fails(self) -> str:
        """Wait for the end, which must be a failure, and return what was printed."""
        assert self.process.wait(PATIENCE) != 0
        return self.printed


def accept_ctrl_c() -> None:
    """Undo what a shell does to a suite that it runs in the background: there Ctrl-C is ignored from the start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
