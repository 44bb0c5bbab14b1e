"""Processes that use an embedded PostgreSQL server, and its postmaster."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg

PATIENCE = 120  # seconds; the machine may be busy
# Uses the server of the folder that its argument names until its standard input ends.
PROGRAM = """
import sys
from pathlib import Path
from contentapi.db.embedded.server import EmbeddedServer
print(EmbeddedServer(Path(sys.argv[1])).acquire(), flush=True)
sys.stdin.read()
"""
# Uses the server, and restarts it for each line of its standard input. With "fork", a forked worker does this.
RESTARTER = """
import os, sys, signal
from pathlib import Path
from threading import Thread
from contentapi.db.embedded import server as module
module.POSTGRES_RESTART_LIMIT = 120  # the machine may be busy
server = module.EmbeddedServer(Path(sys.argv[1]))
print(server.acquire(), flush=True)
if "fork" in sys.argv and os.fork():
    print(os.getpid(), flush=True)
    os.wait()
    sys.exit()
def restart():
    sys.stdout.write(f"{server.restart_if_down()}\\n")
    sys.stdout.flush()
for line in sys.stdin:
    threads = [Thread(target=restart) for _ in range(int(line))]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


class ServerUser:
    """A process that uses the server of a folder."""

    def __init__(self, data_directory: Path, *arguments: str, program: str = PROGRAM) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(data_directory), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.socket_folder = self.read_line()

    def read_line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def restart(self, threads: int = 1) -> None:
        """Let threads of the process restart the server if it is down. `read_line` returns the result of each."""
        assert self.process.stdin
        self.process.stdin.write(f"{threads}\n")
        self.process.stdin.flush()

    def finish(self) -> None:
        self.process.communicate(timeout=PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.finish()

    def can_query(self) -> bool:
        with psycopg.connect(host=self.socket_folder, user="postgres", dbname="postgres") as connection:
            return connection.execute("SELECT true").fetchone() == (True,)


StartUser = Callable[..., ServerUser]


def get_postmaster(data_directory: Path) -> psutil.Process:
    return psutil.Process(int((data_directory / "postmaster.pid").read_text().split()[0]))


def is_down(data_directory: Path, socket_folder: str) -> bool:
    return not (data_directory / "postmaster.pid").exists() and not Path(socket_folder).exists()


def kill_server(data_directory: Path) -> int:
    """Kill the server as an OOM killer does. Returns its process id."""
    killed = get_postmaster(data_directory)
    killed.kill()
    psutil.wait_procs([killed], timeout=10)
    return killed.pid


def is_postmaster(process: psutil.Process, data_directory: Path) -> bool:
    """Return whether a process is the postmaster of this data directory, not one of its children.

    A child has the postmaster's command line from its fork until it sets its own title, so its parent decides.
    """
    try:
        arguments = process.cmdline()
        parent = process.parent()
        is_server = process.name() == "postgres" and "-D" in arguments and str(data_directory) in arguments
        return is_server and (parent is None or parent.name() != "postgres")
    except psutil.Error:
        return False
