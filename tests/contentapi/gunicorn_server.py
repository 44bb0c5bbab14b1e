"""A real gunicorn with a small application, and a client that sends bytes and reads answers."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from tests.e2e.checkout import ROOT, free_port, heed_ctrl_c

PATIENCE = 10

APPLICATION = """
import builtins
import json
import threading
import time
from urllib.parse import parse_qs

OTHERS = {"REMOTE_PORT", "SERVER_PORT", "wsgi.early_hints"}  # of two servers, or of one request
two = threading.Barrier(2, timeout=5)


def application(environ, start_response):
    query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    path = environ["PATH_INFO"]
    status = query.get("status", "200 OK")
    headers = []
    if path == "/how":
        body = type(environ["wsgi.input"]).__name__.encode()
    elif path == "/large":
        body = b"x" * int(query["bytes"])
    elif path == "/length":
        body = b"%d" % len(environ["wsgi.input"].read())
    elif path == "/unread":
        body = b"not read"
    elif path == "/header":
        body, headers = b"told", [("X-Told", environ["wsgi.input"].read().decode("latin-1"))]
    elif path == "/slow":
        time.sleep(float(environ["wsgi.input"].read()))
        body = b"at last"
    elif path == "/meet":
        body = b"%d" % two.wait()
    elif path == "/raise":
        body = environ["wsgi.input"].read()
        if body:
            raise vars(builtins)[body.decode()]("as asked")
    else:
        told = {name: value for name, value in environ.items() if isinstance(value, (str, bool, tuple))}
        told["names"] = sorted(environ.keys() - OTHERS)
        told["body"] = environ["wsgi.input"].read().decode("latin-1")
        body = json.dumps({name: told[name] for name in sorted(told.keys() - OTHERS)}).encode()
    if path == "/parts":
        start_response(status, [("Content-Type", "text/plain")])
        return iter([body[:10], body[10:]])
    start_response(status, [("Content-Type", "text/plain"), *headers, ("Content-Length", str(len(body)))])
    if environ["QUERY_STRING"] == "break" and environ["wsgi.input"].read():
        return breaks_off()
    if path == "/write":
        start_response.__self__.write(body)
    return [body]


def breaks_off():
    yield b"begun"
    raise ValueError("as asked")
"""


class Server:
    """One master and its worker."""

    def __init__(self, folder: Path, worker: str, **settings: object) -> None:
        folder.mkdir()
        self.clients: list[Client] = []
        (folder / "echo.py").write_text(APPLICATION)
        self.port = free_port()
        settings = {"worker_class": f"contentapi.worker.{worker}", "bind": f"127.0.0.1:{self.port}", **settings}
        settings = {"threads": 3, "control_socket_disable": True, "preload_app": True, **settings}
        lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
        (folder / "settings.py").write_text("".join(lines))
        self.log = folder / "printed.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GUNICORN")}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gunicorn", "--config", "settings.py", "echo:application"],
                cwd=folder,
                env={**kept, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=heed_ctrl_c,
            )
        self.wait_for("Booting worker")

    @property
    def printed(self) -> str:
        return self.log.read_text()

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while words not in self.printed:
            assert self.process.poll() is None, self.printed
            assert time.monotonic() < deadline, self.printed
            time.sleep(0.02)

    def connect(self) -> "Client":
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.clients.append(Client(connection))
        return self.clients[-1]

    def ask(self, *requests: bytes) -> list["Answer | None"]:
        """Send requests one after the other on a connection of their own, until it is closed."""
        with self.connect() as client:
            answers: list[Answer | None] = []
            for request in requests:
                answers.append(client.ask(request))
                if answers[-1] is None:
                    return answers
            assert client.rest() == b""
            return answers

    def ask_once(self, request: bytes) -> "Answer":
        [answer] = self.ask(request)
        assert answer is not None
        return answer

    def stop(self, number: int = signal.SIGTERM) -> float:
        """Stop it, and return how many seconds that took."""
        started = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        return time.monotonic() - started

    def kill(self) -> None:
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)


class Answer(NamedTuple):
    """An answer without its date. `head` begins with an interim one, where there was."""

    head: tuple[str, ...]
    body: bytes

    @property
    def status(self) -> int:
        return int(self.head[0].split()[1])

    @property
    def closes(self) -> bool:
        return "Connection: close" in self.head


class Client:
    """A connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.file = connection.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def send(self, *pieces: bytes) -> None:
        """Send pieces, each in a packet of its own that the server reads before the next."""
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(0.003)
            self.socket.sendall(piece)

    def ask(self, *pieces: bytes) -> Answer | None:
        try:
            self.send(*pieces)
        except OSError:  # the server has closed the connection
            return None
        return self.read(b"".join(pieces).split(b" ", 1)[0])

    def read(self, method: bytes = b"POST") -> Answer | None:
        """Return the next answer, None where the connection was closed before it."""
        try:
            head = self.read_head()
            if not head:
                return None
            if " 100 " in head[0]:
                head += self.read_head()
            return Answer(tuple(head), self.read_body(method, "\n".join(head)))
        except ConnectionError:
            return None

    def read_head(self) -> list[str]:
        lines = []
        while (line := self.file.readline()) not in (b"\r\n", b""):
            lines.append(line.decode("latin-1").removesuffix("\r\n"))
        return [line for line in lines if not line.startswith("Date: ")]

    def read_body(self, method: bytes, head: str) -> bytes:
        length = re.search(r"^Content-Length: (\d+)$", head, re.MULTILINE)
        if method == b"HEAD" or re.search(r"^HTTP/1.. (204|304)", head, re.MULTILINE):
            return b""
        if length:
            return self.file.read(int(length[1]))
        if "Transfer-Encoding: chunked" not in head:
            return self.file.read()
        parts = []
        while size := int(self.file.readline(), 16):
            parts.append(self.file.read(size))
            assert self.file.readline() == b"\r\n"
        assert self.file.readline() == b"\r\n"
        return b"".join(parts)

    def rest(self) -> bytes:
        """Say that no request follows, and return what the server has sent beyond its answers."""
        with suppress(OSError):  # it is closed already
            self.socket.shutdown(socket.SHUT_WR)
        return self.file.read()

    def is_closed(self) -> bool:
        """Say whether the server closes the connection, without sending more."""
        try:
            return self.file.read(1) == b""
        except ConnectionError:
            return True


def request(
    line: str = "POST /echo HTTP/1.1", *headers: str, body: bytes = b"", length: int | str | None = None
) -> bytes:
    """Return a request with the length of its body, or with another, or with none: `length=""`."""
    told = () if length == "" else (f"Content-Length: {len(body) if length is None else length}",)
    return "".join(f"{each}\r\n" for each in (line, "Host: api.test", *headers, *told, "")).encode("latin-1") + body
