"""Measures a worker's memory over many different requests: `python -m benchmarks.different granian --requests 1000000`.

Starts one worker on an embedded database with the demo content, and sends requests of `different.lua` by wrk. Prints
the memory of the worker at each step. The worker is not replaced meanwhile. About half of the requests are bad.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import psutil

from benchmarks.places import ROOT, WORK
from tests.deployment.hosts import Host
from tests.deployment.processes import SERVERS

STEPS = (0, 10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 1_000_000)
SLICE = 5  # seconds of one run of wrk
MOST_REFUSED = 0.8  # of the requests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=SERVERS)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    host = build_host(options.server, options.port)
    for command in ("migrate", "load_demo"):
        host.manage(command)
    try:
        measure(host.start(), options.requests)
    finally:
        host.stop()


def build_host(kind: str, port: int) -> Host:
    limits = {"CONTENTAPI_WORKER_MAX_REQUESTS": "999999999", "CONTENTAPI_WORKER_MAX_MEMORY": "99999999999"}
    place = WORK / f"different-{kind}"
    place.mkdir(parents=True, exist_ok=True)
    return Host(place / "server.log", {**limits, "CONTENTAPI_VAR": str(place)}, port=port, server=kind)


def measure(host: Host, requests: int) -> None:
    """Send requests until their number is reached, and print a row of a table at each step."""
    worker = find_worker(host)
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
                f"| {host.server} | {sent:,} | {refused:,} | {failed:,} | {rate:,.0f} "
                f"| {memory.rss / 1e6:.1f} | {memory.uss / 1e6:.1f} |",
                flush=True,
            )
            steps = [step for step in steps if step > sent]
            continue
        if sent and refused > MOST_REFUSED * sent:
            sys.exit(f"{refused:,} of {sent:,} requests were refused: something else than their input is wrong.")
        result = run_load(host.port, sent)
        sent, refused, failed = sent + result["requests"], refused + result["refused"], failed + result["failed"]


def find_worker(host: Host) -> psutil.Process:
    """Return the worker process, which is the child of the master that runs Python."""
    for child in psutil.Process(host.pid).children():
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
