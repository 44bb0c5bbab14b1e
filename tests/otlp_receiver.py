"""A receiver of OpenTelemetry traces (OTLP over HTTP), which decodes what servers send."""

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PATIENCE = 120


class ReceivedSpan(NamedTuple):
    name: str
    trace_id: str
    span_id: str
    parent_id: str  # empty for a root
    kind: int  # 1: internal, 2: server, 3: client
    failed: bool
    seconds: float
    attributes: dict[str, Any]
    resource: dict[str, Any]


class OtlpReceiver:
    """The receiver. While it hangs, it accepts requests and never responds."""

    def __init__(self) -> None:
        self.spans: list[ReceivedSpan] = []
        self.bodies: list[bytes] = []
        self.hanging = Event()
        self.released = Event()
        self.waiting = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.hanging.is_set():
                    receiver.waiting += 1
                    receiver.released.wait()
                    return
                receiver.receive(self.path, body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def receive(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        self.bodies.append(body)
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = read_attributes(group.resource.attributes)
            for scope in group.scope_spans:
                assert all(not span.events and not span.status.message for span in scope.spans)
                self.spans += [build_span(span, resource) for span in scope.spans]

    def wait_for(self, condition: Callable[[list[ReceivedSpan]], object]) -> list[ReceivedSpan]:
        """Wait until the condition holds for the received spans, and return them."""
        deadline = time.monotonic() + PATIENCE
        while not condition(self.spans):
            assert time.monotonic() < deadline, [(span.name, span.attributes) for span in self.spans]
            time.sleep(0.02)
        return list(self.spans)

    def wait_for_trace(self, trace_id: str) -> list[ReceivedSpan]:
        """Return the spans of a trace when that of the request, the last one, has arrived."""
        self.wait_for(lambda spans: any(span.trace_id == trace_id and span.kind == 2 for span in spans))
        return [span for span in self.spans if span.trace_id == trace_id]

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def build_span(span: Any, resource: dict[str, Any]) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.kind,
        span.status.code == 2,
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        read_attributes(span.attributes),
        resource,
    )


def read_attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def build_tree(spans: list[ReceivedSpan], parent_id: str) -> list[Any]:
    """Return the names of the children of a span in the order of time, each with its own children."""
    children = [(span.name, build_tree(spans, span.span_id)) for span in spans if span.parent_id == parent_id]
    return [child if child[1] else child[0] for child in children]
