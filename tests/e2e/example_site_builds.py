"""The example site builds itself when a webhook says that posts have changed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, start_process, wait_until
from tests.e2e.example_site import Site
from tests.e2e.http_client import HttpClient

BUILT = "The site is built."


def check_builds(site: Site) -> None:
    ids = [post["id"] for post in site.send("/posts?status=published&limit=5", method="GET")["data"]]
    with build_on_webhook(site) as (receiver, count_builds):
        wait_until(lambda: count_builds() == 1, "the first build", PATIENCE)

        changes = [f'p{pk}: updatePost(input: {{id: {pk}, title: "Changed {pk}"}}) {{ id }}' for pk in ids]
        done = site.send("/graphql", {"query": f"mutation @atomic {{ {' '.join(changes)} }}"})
        assert "errors" not in done
        wait_until(lambda: count_builds() == 2, "the build after the changes", PATIENCE)
        page = site.read_build()["index.html"]
        assert [pk for pk in ids if f"Changed {pk}" not in page] == []

        headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
        for forged in ({}, headers):
            assert HttpClient(receiver).post("/", {"type": "events.batch"}, **forged).status == 401
        site.send(f"/posts/{ids[0]}", {"title": "Changed once more"}, "PATCH")
        wait_until(lambda: count_builds() == 3, "the last build", PATIENCE)
        assert "Changed once more" in site.read_build()["index.html"]


@contextmanager
def build_on_webhook(site: Site) -> Iterator[tuple[str, Callable[[], int]]]:
    """Run the receiver. Yield its address, and a function that counts its builds. All changes of a second are one."""
    address = f"http://127.0.0.1:{find_free_port()}"
    webhook = site.send("/webhooks", {"url": address, "types": ["post.*"], "coalesce": 1, "name": "Site"})
    settings = {"PORT": address.rsplit(":", 1)[1], "WEBHOOK_SECRET": webhook["secret"], "BUILD": "npm exec vite build"}
    log = site.folder / "builds.log"
    process = start_process(["npm", "run", "build-on-webhook"], log, site.environment | settings, cwd=site.folder)
    try:
        yield address, lambda: log.read_text().count(BUILT)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        site.send(f"/webhooks/{webhook['id']}", method="DELETE")
