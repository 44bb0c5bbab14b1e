"""An HTTP server in this process that records its requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

PAGE = b'{"data": [{"id": "1"}, {"id": "2"}]}'


class Received(NamedTuple):
    client: tuple[str, int]
    path: str
    headers: dict[str, str]
    body: bytes


class Upstream(ThreadingHTTPServer):
    """Responds to each request with a page."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[Received] = []

    @property
    def port(self) -> int:
        return self.server_address[1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_GET(self) -> None:
        self.respond()

    def do_POST(self) -> None:
        self.respond()

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append(Received(self.client_address, self.path, dict(self.headers), body))
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def run_upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
