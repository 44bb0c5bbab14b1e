"""`python -m benchmarks.streams`: measure the process of the streams, with 2,000 streams by default.

* the time from a commit to its event in a stream, while others commit too;
* the memory of the process with many streams, and the time of the API's requests beside them. Streams and their clients
  have one core; the API, PostgreSQL, the worker and the client of the API have the other;
* the time until streams that do not read are closed, and the memory of the process afterwards;
* the time until the stream of a revoked key ends.

Prints a table in Markdown. Exits with 1 if a figure exceeds its limit. It keeps its PostgreSQL in `var/streams`, and
runs for about five minutes. Each stream is a file: `ulimit -Hn` must allow twice as many.
"""

import argparse
import json
import os
import random
import resource
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.client import HTTPConnection
from multiprocessing import get_context
from statistics import mean, quantiles
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.database import EDITOR, Database, manage, our_environment
from benchmarks.events import Row, report
from benchmarks.followers import HOST, Crowd, Follower, Received, open_stream
from benchmarks.places import ROOT, clean_environment
from benchmarks.processes import pin, resident_megabytes, with_descendants
from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.ports import find_free_port
from tests.deployment.processes import COMMANDS, UNREACHED_RATES, Process, run_process

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

FOLDER = ROOT / "var" / "streams"
STREAM_CORE, OTHER_CORE = 0, 1
FOLLOWERS, COMMITS = 5, 400
REQUESTS = 2000  # of a round, with streams and without
PAUSE = 1.0  # seconds between two events for all streams
SLOW = 200  # streams that do not read
FLOOD, LARGE = 400, 60_000  # events, each with a text of as many characters
EXPECTED = {
    "p50": 100.0,
    "p99": 300.0,
    "memory": 300.0,
    "p99 of the API": 1.1,
    "slow": 15.0,
    "kept": 16.0,
    "revoked": 5.0,
}


class Site:
    """The processes, and the post that changes."""

    def __init__(self, stack: ExitStack) -> None:
        self.database = prepare_database(EmbeddedServer(FOLDER / "postgres").acquire())
        self.port, self.stream_port = find_free_port(), find_free_port()
        self.environment = self.build_environment()
        ports = {"granian": self.port, "worker": self.metrics, "stream": self.stream_port}
        self.processes = {name: stack.enter_context(self.run(name, port)) for name, port in ports.items()}
        key = manage(self.database, "create_api_key", EDITOR, "--name", f"streams {random.random()}")
        self.headers = {"X-API-Key": key.split()[-1]}
        self.post_id = self.create_post()

    def build_environment(self) -> dict[str, str]:
        self.metrics = find_free_port()
        own = {"WEB_CONCURRENCY": "1", "CONTENTAPI_LOG_SAMPLE": "0", "CONTENTAPI_BIND": HOST, "PORT": str(self.port)}
        stream = {"CONTENTAPI_STREAM_PORT": str(self.stream_port), "CONTENTAPI_VAR": str(FOLDER / "var")}
        return clean_environment() | our_environment(self.database) | UNREACHED_RATES | own | stream

    def run(self, name: str, port: int) -> AbstractContextManager[Process]:
        """Run a program that listens on a port."""
        metrics = {"CONTENTAPI_METRICS_BIND": f"{HOST}:{self.metrics}"} if name == "worker" else {}
        return run_process(COMMANDS[name], FOLDER / f"{name}.log", port, self.environment | metrics)

    def separate(self) -> None:
        """Let the streams use one core, and everything else the other."""
        postmaster = int((FOLDER / "postgres" / "postmaster.pid").read_text().split()[0])
        for pid in (os.getpid(), postmaster):
            pin(with_descendants(pid), OTHER_CORE)
        pin(with_descendants(self.processes["stream"].pid), STREAM_CORE)

    def create_post(self) -> str:
        body = {"title": "Measured", "body": "Words.", "status": "published"}
        created = self.send("POST", "/posts", body)
        return str(created["id"])

    def send(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection(HOST, self.port, timeout=30)
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json", **self.headers})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text)

    def change_title(self, title: str) -> None:
        self.database.connection.execute("UPDATE blog_post SET title = %s WHERE id = %s", [title, self.post_id])

    @property
    def memory(self) -> float:
        """The resident memory of the process of the streams, in MiB."""
        return resident_megabytes(self.processes["stream"].pid)


def prepare_database(folder: str) -> Database:
    maintenance = Database(folder, "postgres")
    maintenance.run("DROP DATABASE IF EXISTS streams WITH (FORCE)", "CREATE DATABASE streams")
    database = Database(maintenance.address, "streams")
    manage(database, "migrate", "--verbosity", "0")
    manage(database, "create_user", EDITOR, "--name", "Bench", "--role", "admin")
    return database


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams")
    parser.add_argument("--streams", type=int, default=2000, help="that are open at a time; default: 2,000")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        site = Site(stack)
        rows = [*measure_latency(site), measure_revocation(site)]
        site.separate()
        rows += [*measure_crowd(site, options.streams), *measure_slow_streams(site)]
    report(rows)


def measure_latency(site: Site) -> Iterator[Row]:
    """Measure commits while there is work. The first one after a pause waits up to a second for the relay."""
    followers = [Follower(site.stream_port) for _ in range(FOLLOWERS)]
    for follower in followers:
        follower.start()
        follower.opened.wait(30)
    begins: dict[str, float] = {}
    site.change_title("The first one")
    followers[0].wait_for(lambda it: it.events, 10)
    for number in range(COMMITS):
        title = f"Title {number}"
        begins[title] = time.monotonic()
        site.change_title(title)
        time.sleep(random.uniform(0, 0.2))
    last = f"Title {COMMITS - 1}"
    for follower in followers:
        follower.wait_for(lambda it: it.events and it.events[-1].event["data"]["title"] == last, 10)
        follower.stop()
    # `data` is as new as the delivery, so the order of the events names the commits.
    times = [
        (received.time - begin) * 1000
        for follower in followers
        for begin, received in zip(begins.values(), list_updates(follower)[1:], strict=True)
    ]
    percentiles = quantiles(times, n=100)
    for name in ("p50", "p99"):
        found = percentiles[int(name[1:]) - 1]
        yield f"from a commit to its event in a stream: {name}", "ms", found, found <= EXPECTED[name]


def list_updates(follower: Follower) -> list[Received]:
    return [received for received in follower.events if received.event["type"] == "post.updated"]


def measure_revocation(site: Site) -> Row:
    key = manage(site.database, "create_api_key", EDITOR, "--name", f"revoked {random.random()}").split()[-1]
    follower = Follower(site.stream_port, headers={"X-API-Key": key})
    follower.start()
    follower.opened.wait(30)
    site.database.connection.execute(
        "UPDATE users_apikey SET revoked_at = now() WHERE prefix = %s", [key.rpartition("_")[0]]
    )
    begin = time.monotonic()
    follower.wait_for(lambda it: it.ends, 30)
    taken = follower.ends[0] - begin if follower.ends else 30.0
    follower.stop()
    return "the end of the stream of a revoked key", "s", taken, taken <= EXPECTED["revoked"]


def measure_crowd(site: Site, count: int) -> Iterator[Row]:
    """Measure requests of the API without and with streams in turn."""
    rounds: dict[bool, list[float]] = {False: [], True: []}
    memory, delivered = 0.0, 0
    for is_crowded in (False, True, False, True, False):
        if not is_crowded:
            rounds[is_crowded].append(measure_requests(site))
            continue
        with hold_streams(site, count) as pipe:
            rounds[is_crowded].append(measure_requests(site))
            memory = max(memory, site.memory)
            pipe.send("stop")
            delivered += pipe.recv()
    ratio = mean(rounds[True]) / mean(rounds[False])
    yield f"memory with {count:,} streams", "MiB", memory, memory <= EXPECTED["memory"]
    yield "events delivered to them", "", float(delivered), delivered > 0
    yield "p99 of a request without streams", "ms", mean(rounds[False]), True
    yield f"the same with {count:,} streams", "times", ratio, ratio <= EXPECTED["p99 of the API"]


def measure_requests(site: Site) -> float:
    """Return the 99th percentile of the milliseconds of a request, while a post changes each second."""
    connection, times = HTTPConnection(HOST, site.port, timeout=30), []
    changed = 0.0
    for _ in range(REQUESTS):
        if time.monotonic() - changed > PAUSE:
            changed = time.monotonic()
            site.change_title(f"At {changed}")
        begin = time.perf_counter()
        connection.request("GET", f"/posts/{site.post_id}")
        connection.getresponse().read()
        times.append((time.perf_counter() - begin) * 1000)
        time.sleep(0.005)
    connection.close()
    return quantiles(times, n=100)[98]


@contextmanager
def hold_streams(site: Site, count: int) -> Iterator["Connection[Any, Any]"]:
    """Hold streams open in another process. Yield its pipe after all of them have begun."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=read_streams, args=(site.stream_port, count, there))
    process.start()
    try:
        here.recv()
        yield here
    finally:
        process.join(60)


def read_streams(port: int, count: int, pipe: "Connection[Any, Any]") -> None:
    psutil.Process().cpu_affinity([STREAM_CORE])
    crowd = Crowd(port, count, network=1)
    pipe.send("open")
    while not pipe.poll():
        crowd.read(0.5)
    crowd.close()
    pipe.send(sum(crowd.counts.values()))


def measure_slow_streams(site: Site) -> Iterator[Row]:
    """Open streams that read nothing, and send them more than the buffers of the kernel hold, twice.

    The process keeps memory of the first time, in which it has read large events. That of the second must be back.
    """
    taken, memory = 0.0, list[float]()
    for _ in range(2):
        slow = [open_stream(site.stream_port, f"127.2.0.{number // 10 + 1}", 4096) for number in range(SLOW)]
        begin = time.monotonic()
        flood(site, FLOOD)
        while count_slow_streams(site) and time.monotonic() < begin + 60:
            time.sleep(0.1)
        taken = max(taken, time.monotonic() - begin)
        for each in slow:
            each.close()
        time.sleep(10)
        memory.append(site.memory)
    kept = memory[1] - memory[0]
    yield f"the end of {SLOW} streams that do not read", "s", taken, taken <= EXPECTED["slow"]
    yield "memory of the process afterwards", "MiB", memory[0], True
    yield "memory that a second time adds", "MiB", kept, kept <= EXPECTED["kept"]


def flood(site: Site, count: int) -> None:
    for number in range(count):
        body = f"{number} " + "x" * LARGE
        site.database.connection.execute("UPDATE blog_post SET body = %s WHERE id = %s", [body, site.post_id])


def count_slow_streams(site: Site) -> int:
    """Return how many of the streams the process still has."""
    return sum(
        connection.status == psutil.CONN_ESTABLISHED and connection.raddr.ip.startswith("127.2.")
        for process in with_descendants(site.processes["stream"].pid)
        for connection in process.net_connections("tcp4")
        if connection.raddr
    )


if __name__ == "__main__":
    main()
