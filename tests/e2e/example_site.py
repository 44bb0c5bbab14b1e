"""A copy of the example site: its packages, its build and its host, and visits of it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser

from tests.deployment.checkout import Run
from tests.deployment.processes import ROOT, install_packages, run_program

BUILT = ("build", "schema.graphql", "graphql-env.d.ts", "next-env.d.ts")
NOT_TRACKED = shutil.ignore_patterns("node_modules", ".svelte-kit", ".next", ".env.local", *BUILT)
NODE = (20, 19)


class StaticHost(SimpleHTTPRequestHandler):
    """Serves a folder as a static host does: 404.html for every path that does not exist."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        if code != 404:
            super().send_error(code, message, explain)
            return
        content = Path(self.directory, "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Site:
    """A copy of the example, its server, and the addresses of both."""

    def __init__(self, folder: Path, run: Run, port: int) -> None:
        self.folder, self.run = folder, run
        self.api, self.address = f"http://localhost:{run.port}", f"http://localhost:{port}"
        self.key = run.checkout.key
        made = run.checkout.manage("create_api_key", "editor@example.com", "--name", "site", "--scope", "posts:read")
        self.key_of_builds = made.stdout.strip()

    def run_npm(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        return run_program("npm", *command, cwd=self.folder, env=environment, timeout=None)

    @property
    def environment(self) -> dict[str, str]:
        # The key of an editor, who may read drafts, which the site must not have all the same.
        settings = {"PUBLIC_API_URL": self.api, "PUBLIC_SITE_URL": self.address, "API_KEY": self.key_of_builds}
        return {**os.environ, **settings}

    def build(self) -> None:
        done = self.run_npm("run", "build")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "0 errors and 0 warnings" in done.stdout

    def send(self, path: str, body: dict[str, Any] | None = None, method: str = "POST") -> dict[str, Any]:
        """Send a request with the key of the admin. Return the decoded response."""
        headers = {"Content-Type": "application/json", "X-API-Key": self.key}
        content = None if body is None else json.dumps(body).encode()
        request = Request(self.api + path, content, headers, method=method)  # noqa: S310 - loopback
        with urlopen(request, timeout=120) as response:  # noqa: S310 - loopback
            result: dict[str, Any] = json.loads(response.read() or b"{}")
        return result

    def read_build(self) -> dict[str, str]:
        """Return the text of each built file, by its path."""
        files = [path for path in (self.folder / "build").rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder / "build")): path.read_text() for path in files}


class Visit:
    """A page in a new browser context, what its console reported, and the hosts that it sent requests to."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.reports: list[str] = []
        self.hosts: set[str] = set()
        self.page = browser.new_context(**options).new_page()
        self.page.on("console", lambda message: self.reports.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.reports.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))


def copy_example(name: str, folder: Path) -> None:
    """Copy an example, and install its packages."""
    version = tuple(int(number) for number in re.findall(r"\d+", run_program("node", "--version").stdout))
    if version < NODE:
        pytest.skip("Node is older than 20.19, which the example needs")
    shutil.copytree(ROOT / "examples" / name, folder, ignore=NOT_TRACKED)
    install_packages(folder)


@contextmanager
def serve(folder: Path, port: int) -> Iterator[None]:
    with ThreadingHTTPServer(("localhost", port), partial(StaticHost, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()
