"""A Redis server for one test, which can be killed, suspended and restarted at the same address."""

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.deployment.ports import find_free_port

PATIENCE = 120


class RedisServer:
    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed (Debian: apt-get install redis-server).")
        self.port = find_free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None
            time.sleep(0.02)
        raise AssertionError("redis-server did not start.")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def send(self, *words: str) -> None:
        """Send a command."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(f"{' '.join(words)}\r\n".encode())
            assert connection.recv(1024).startswith((b"+", b":"))

    def hang(self) -> None:
        """Suspend the server: it accepts connections and never responds."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
