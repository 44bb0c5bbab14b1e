"""The worker and the process of streams of a site."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from benchmarks.hostile.servers import run_process
from tests.e2e.live_server import Site
from tests.ports import find_free_port


@contextmanager
def serve_streams(site: Site, variables: Mapping[str, str] = {}, port: int | None = None) -> Iterator[int]:
    """Run both processes. Yield the port of streams, a free one by default."""
    port, metrics = port or find_free_port(), find_free_port()
    worker = site.environment(**{**variables, "CONTENTAPI_METRICS_BIND": f"127.0.0.1:{metrics}"})
    stream = site.environment(**{**variables, "CONTENTAPI_STREAM_PORT": str(port)})
    with (
        run_process([sys.executable, "manage.py", "worker"], site.folder / "worker.log", metrics, worker),
        run_process([sys.executable, "manage.py", "stream"], site.folder / "stream.log", port, stream),
    ):
        yield port
