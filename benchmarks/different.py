"""Measures a worker's memory over many different requests: `python -m benchmarks.different granian --requests 1000000`.

Starts one worker on an embedded database with the demo content, and sends requests of `different.lua` by wrk. Prints
the memory of the worker at each step. The worker is not replaced meanwhile. About half of the requests are bad.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException

import psutil

from benchmarks.places import ROOT, WORK
from benchmarks.postgres import free_port

COMMANDS = {
    "granian": ["-m", "contentapi.server.granian"],
    "gunicorn": ["-m", "gunicorn", "--config", "contentapi/server/gunicorn_conf.py", "contentapi.wsgi"],
}
STEPS = (0, 10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 1_000_000)
SLICE = 5  # seconds of one run of wrk
PATIENCE = 60  # seconds for the start
MOST_REFUSED = 0.8  # of the requests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=COMMANDS)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    port = options.port or free_port()
    process = start(options.server, port)
    try:
        measure(options.server, process, port, options.requests)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def start(kind: str, port: int) -> subprocess.Popen[bytes]:
    unreached = {f"CONTENTAPI_RATE_{name}": "999999999/minute" for name in ("ANONYMOUS", "AUTHENTICATED", "WRITES")}
    limits = {"CONTENTAPI_WORKER_MAX_REQUESTS": "999999999", "CONTENTAPI_WORKER_MAX_MEMORY": "99999999999"}
    place = {"WEB_CONCURRENCY": "1", "PORT": str(port), "CONTENTAPI_VAR": str(WORK / f"different-{kind}")}
    environment = os.environ | unreached | limits | place
    for command in (["migrate", "--noinput"], ["load_demo"]):
        subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, capture_output=True
        )
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[kind]],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/posts", headers={"Host": "localhost"})
            connection.getresponse().read()
        except (OSError, HTTPException):
            time.sleep(0.1)
        else:
            return process
    sys.exit(f"{kind} does not start")


def measure(kind: str, process: subprocess.Popen[bytes], port: int, requests: int) -> None:
    """Send requests until their number is reached, and print a row of a table at each step."""
    worker = find_worker(process)
    steps = [step for step in STEPS if step <= requests]
    sent = refused = failed = 0
    start = time.monotonic()
    print("| server | different requests | without 2xx | no response | requests/s | RSS MB | USS MB |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    while steps:
        if sent >= steps[0]:
            memory = worker.memory_full_info()
            rate = sent / (time.monotonic() - start)
            print(
                f"| {kind} | {sent:,} | {refused:,} | {failed:,} | {rate:,.0f} "
                f"| {memory.rss / 1e6:.1f} | {memory.uss / 1e6:.1f} |",
                flush=True,
            )
            steps = [step for step in steps if step > sent]
            continue
        if sent and refused > MOST_REFUSED * sent:
            sys.exit(f"{refused:,} of {sent:,} requests were refused: something else than their input is wrong.")
        result = run_load(port, sent)
        sent, refused, failed = sent + result["requests"], refused + result["refused"], failed + result["failed"]


def find_worker(process: subprocess.Popen[bytes]) -> psutil.Process:
    """Return the worker process, which is the child of the master that runs Python."""
    for child in psutil.Process(process.pid).children():
        if "python" in child.name() or "gunicorn" in child.name() or "granian" in child.name():
            return child
    sys.exit("there is no worker")


def run_load(port: int, first: int) -> dict[str, int]:
    """Send requests for some seconds over 16 connections. Return the numbers of requests, refusals and failures."""
    command = ["wrk", "-t1", "-c16", f"-d{SLICE}s", "--timeout", "30s", "-s", str(ROOT / "benchmarks/different.lua")]
    printed = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/"],
        env=os.environ | {"START": str(first)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    line = next(line for line in printed.splitlines() if line.startswith("RESULT "))
    result: dict[str, int] = json.loads(line.removeprefix("RESULT "))
    return result


if __name__ == "__main__":
    main()
