"""Server processes of a deployment: each host is one set of worker processes on a port of an address."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.deployment.postgresql import reserve_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180  # seconds; the machine may be busy
SECRET = "a secret that is long enough for a deployment in a test, and for nothing else"
OURS = ("DATABASE", "REDIS", "JWT_", "SECRET_KEY", "CONTENTAPI", "DJANGO_", "PORT", "PG")


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
        self.port = port or reserve_port()
        self.log = log
        self.server = server
        self.variables = {"PORT": str(self.port), **variables}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        ours = OURS if self.folder == ROOT else (*OURS, "COVERAGE")  # the files of a checkout are copies
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        common = {"SECRET_KEY": SECRET, "JWT_SECRET": SECRET, "CONTENTAPI_BIND": self.address, "WEB_CONCURRENCY": "1"}
        rates = {f"CONTENTAPI_RATE_{name}": "1000000/second" for name in ("ANONYMOUS", "AUTHENTICATED", "WRITES")}
        return {**inherited, **common, **rates, **self.variables}

    def manage(self, *arguments: str) -> str:
        """Run a command of an operator. Returns its standard output."""
        command = [*self.enter, sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def spawn(self) -> None:
        """Start the processes."""
        granian = [sys.executable, "-m", "contentapi.server.granian"]
        gunicorn = [sys.executable, "-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py"]
        command = [*self.enter, *(granian if self.server == "granian" else [*gunicorn, "contentapi.wsgi"])]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    def start(self) -> "Host":
        """Start the processes, and wait until they respond."""
        self.spawn()
        assert self.process
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            try:
                if self.request("POST", "/graphql", {"query": "{ __typename }"}).status == 200:
                    return self
            except OSError:
                time.sleep(0.1)

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
