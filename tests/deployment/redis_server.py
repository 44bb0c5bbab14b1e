"""A Redis server for one test, which can be killed, suspended and restarted at the same address."""

import os
import shutil
import signal
import socket
from pathlib import Path
from unittest import SkipTest

from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, start_process, wait_until_listening


class RedisServer:
    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise SkipTest("redis-server is not installed (Debian: apt-get install redis-server).")
        self.port = find_free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        self.start()

    def start(self) -> None:
        self.process = start_process(self.command, None, os.environ)
        wait_until_listening(self.process, self.port)

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
