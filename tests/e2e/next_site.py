"""A copy of the example for Next.js: its packages, its build, its server and its webhook."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.deployment.checkout import Run
from tests.deployment.processes import PATIENCE, ROOT, start_process, wait_until
from tests.e2e.example_site import Site
from tests.e2e.http_client import HttpClient, HttpResponse

EXAMPLE = ROOT / "examples" / "next"
NOT_TRACKED = shutil.ignore_patterns("node_modules", ".next", "next-env.d.ts", ".env.local")
NEXT = "node_modules/next/dist/bin/next"
TYPES = ["post.*", "author.updated", "image.*"]
KEPT = "3600"  # seconds for which a page is kept, unless a webhook says that it is old


class NextSite(Site):
    """A copy of the example, and what it shows. The server sends it the events of posts."""

    def __init__(self, folder: Path, run: Run, port: int) -> None:
        super().__init__(folder, run, port)
        hook = {"url": f"http://127.0.0.1:{port}/api/webhook", "types": TYPES, "name": "Next.js"}
        self.webhook = self.send("/webhooks", hook)

    @property
    def environment(self) -> dict[str, str]:
        settings = {"API_URL": self.api, "REVALIDATE": KEPT, "WEBHOOK_SECRET": self.webhook["secret"]}
        return {**super().environment, **settings, "NEXT_TELEMETRY_DISABLED": "1"}

    def build(self) -> None:
        done = self.run_npm("run", "build")
        assert done.returncode == 0, done.stdout + done.stderr

    @contextmanager
    def serve(self) -> Iterator[None]:
        """Serve the build. The files that this writes are the cache of static pages."""
        command = ["node", NEXT, "start", "--port", self.address.rsplit(":", 1)[1]]
        process = start_process(command, self.folder / "printed.log", self.environment, cwd=self.folder)
        try:
            wait_until(self.is_reachable, "the first response of the site", PATIENCE)
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)

    def is_reachable(self) -> bool:
        try:
            return self.get("/").status == 200
        except OSError:
            return False

    def write(self, title: str, **values: str) -> dict[str, Any]:
        return self.send("/posts", {"title": title, "body": "Only **mud**.", **values})

    def create_link(self, post: dict[str, Any], **values: str) -> dict[str, Any]:
        return self.send(f"/posts/{post['id']}/preview-links", values)

    def get(self, path: str) -> HttpResponse:
        """Send a request without cookies, and return the response, also if it is a redirect."""
        return HttpClient(self.address).get(path)
