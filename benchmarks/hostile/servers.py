"""The servers under attack: granian and gunicorn as `make run` starts them, without a proxy or behind nginx."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.hostile.places import LOGS, WORK, find_free_port, server_environment
from benchmarks.places import ROOT

PATIENCE = 180  # seconds for a start; the machine may be busy
TIME_TO_STOP = 15
SERVERS = ("granian", "granian-nginx", "gunicorn", "gunicorn-nginx")
CONFIGURATION = ROOT / "deploy" / "nginx.conf"
TEMPORARY_PATHS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def start_server(name: str) -> Iterator[int]:
    """Run a server of `SERVERS`, and yield the port that clients connect to."""
    program, _, proxy = name.partition("-")
    port = find_free_port()
    environment = server_environment() | {"PORT": str(port), "CONTENTAPI_TRUSTED_PROXIES": "1" if proxy else "0"}
    command = [sys.executable, "manage.py", "serve", "--server", program]
    with run_process(command, LOGS / f"{name}.log", port, environment):
        if proxy:
            with start_nginx(port, WORK / "nginx") as proxy_port:
                yield proxy_port
        else:
            yield port


@contextmanager
def start_nginx(
    upstream: int,
    folder: Path,
    *,
    text: str = CONFIGURATION.read_text(),
    addresses: Sequence[str] = ("127.0.0.1",),
    streams: int | None = None,
) -> Iterator[int]:
    """Run nginx in front of the port of a server, and of that of streams, with its files in a folder.

    Yields the port of nginx.
    """
    port = find_free_port()
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "nginx.conf"
    text = text if streams is None else text.replace("server 127.0.0.1:8100;", f"server 127.0.0.1:{streams};")
    configuration.write_text(adapt_configuration(text, folder, port, upstream, addresses))
    directives = "daemon off;" + (
        " user root;" if os.geteuid() == 0 else ""
    )  # as root, because another account could not enter var/
    command = [require_nginx(), "-p", str(folder), "-c", str(configuration), "-g", directives]
    with run_process(command, folder / "nginx.log", port, dict(os.environ)):
        yield port


def adapt_configuration(
    text: str, folder: Path, port: int, upstream: int, addresses: Sequence[str] = ("127.0.0.1",)
) -> str:
    """Return the deployment's configuration with only the addresses and paths of this measurement changed."""
    paths = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in TEMPORARY_PATHS)
    changes = {
        "listen 80 ": "; ".join(f"listen {address}:{port}" for address in addresses) + " ",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{upstream};",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/": f"{folder}/",
        "http {\n": f"http {{\n{paths}",
    }
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{CONFIGURATION.name} does not contain {old!r}")
        text = text.replace(old, new)
    return text


def find_nginx() -> str | None:
    """Return the path of nginx, which Debian installs outside an ordinary user's PATH."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def require_nginx() -> str:
    found = find_nginx()
    if found is None:
        raise FileNotFoundError("nginx is not installed")
    return found


@contextmanager
def run_process(command: list[str], log: Path, port: int, environment: dict[str, str]) -> Iterator[None]:
    """Run a program that listens on a port. Stop it and its child processes at the end of the block."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_listening(process, port, log)
        yield
    finally:
        stop(process)


def wait_until_listening(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.3):
            return
        time.sleep(0.1)
    end = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    raise RuntimeError(f"{log.stem} does not start. The end of its log:\n{end}")


def stop(process: "subprocess.Popen[bytes]") -> None:
    started = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    _, left = psutil.wait_procs(started, timeout=TIME_TO_STOP)
    for each in left:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()
