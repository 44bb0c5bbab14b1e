"""Server processes of a deployment: each host is one set of worker processes on a port of an address."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.deployment.ports import find_free_port
from tests.deployment.processes import (
    COMMANDS,
    PATIENCE,
    ROOT,
    UNREACHED_RATES,
    Process,
    inherit_environment,
    run_manage,
    start_process,
    wait_until,
)

SECRET = "a secret that is long enough for a deployment in a test, and for nothing else"


class HostResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any  # decoded JSON, or None


class Host:
    """A server with its environment variables. `enter` begins its commands, such as `ip netns exec NAME`."""

    def __init__(
        self,
        log: Path,
        variables: dict[str, str],
        *,
        port: int | None = None,
        server: str = "granian",
        folder: Path = ROOT,
        address: str = "127.0.0.1",
        enter: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.address = address
        self.enter = enter
        self.port = port or find_free_port()
        self.log = log
        self.server = server
        self.variables = {"PORT": str(self.port), **variables}
        self.process: Process | None = None

    @property
    def environment(self) -> dict[str, str]:
        unmeasured = [] if self.folder == ROOT else ["COVERAGE"]  # the files of a checkout are copies
        inherited = inherit_environment(*unmeasured)
        common = {"SECRET_KEY": SECRET, "JWT_SECRET": SECRET, "CONTENTAPI_BIND": self.address, "WEB_CONCURRENCY": "1"}
        return {**inherited, **common, **UNREACHED_RATES, **self.variables}

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def manage(self, *arguments: str) -> str:
        """Run a command of an operator. Returns its standard output."""
        return run_manage(self.environment, *arguments, cwd=self.folder, enter=self.enter)

    def spawn(self) -> None:
        """Start the processes."""
        command = [*self.enter, *COMMANDS[self.server]]
        self.process = start_process(command, self.log, self.environment, cwd=self.folder)

    def start(self) -> "Host":
        """Start the processes, and wait until they respond."""
        self.spawn()
        wait_until(self.is_responding, f"the start of {self.log}")
        return self

    def is_responding(self) -> bool:
        assert self.process
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.request("POST", "/graphql", {"query": "{ __typename }"}).status == 200
        except OSError:
            return False

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(PATIENCE)
            self.process = None

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> HostResponse:
        """Send a request. Header names are written with underscores."""
        sent = {
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}:{self.port}{path}", content, sent, method=method)
        try:
            response = urllib.request.urlopen(request, timeout=PATIENCE)  # noqa: S310
        except urllib.error.HTTPError as error:
            response = error
        with response:
            text = response.read()
            return HostResponse(response.status, dict(response.headers), json.loads(text) if text else None)
