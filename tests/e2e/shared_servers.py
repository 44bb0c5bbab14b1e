"""Servers whose traces a test receives, and those that the tests of a process share."""

import json
import shutil
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.deployment.live_server import LiveServer, run_site
from tests.deployment.ports import find_free_port
from tests.deployment.redis_server import RedisServer
from tests.deployment.template import Template
from tests.otlp_receiver import OtlpReceiver

PARENT = "00f067aa0ba902b7"
HAS_REDIS = shutil.which("redis-server") is not None


def trace_to(receiver: OtlpReceiver) -> dict[str, str]:
    """Return the variables of a server that sends its traces to a receiver, five times a second."""
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}


class TracedServer:
    """A running server with the receiver of its traces."""

    def __init__(self, live: LiveServer, receiver: OtlpReceiver) -> None:
        self.live, self.receiver = live, receiver
        self.port, self.key = live.port, live.site.key
        self.last_number = 0

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Send a request with a sampled `traceparent`. Return the status, the trace id and the headers."""
        self.last_number += 1
        trace_id = f"{id(self):024x}{self.last_number:08x}"
        sent = {"traceparent": f"00-{trace_id}-{PARENT}-01", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        connection.request(method, path, content, sent)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status, trace_id, {name.lower(): value for name, value in response.getheaders()}

    def query(self, text: str, **headers: str) -> tuple[int, str, dict[str, str]]:
        return self.send("POST", "/graphql", {"query": text}, **headers)


class SharedServer(TracedServer):
    """A server with one worker, Redis (if it is installed), metrics and traces. A test leaves it as it was."""

    def __init__(self, folder: Path, template: Template, kind: str) -> None:
        self.stack = ExitStack()
        site = self.stack.enter_context(run_site(folder / "site", template))
        receiver = OtlpReceiver()
        self.stack.callback(receiver.close)
        self.kind, self.metrics = kind, f"127.0.0.1:{find_free_port()}"
        variables = {"CONTENTAPI_METRICS_BIND": self.metrics, **trace_to(receiver)}
        if HAS_REDIS:
            redis = RedisServer(folder)
            self.stack.callback(redis.kill)
            variables["REDIS_URL"] = redis.url
        super().__init__(self.stack.enter_context(site.serve(kind, **variables)), receiver)

    def close(self) -> None:
        self.live.end()  # not by force: the processes may have measured their coverage
        self.stack.close()
