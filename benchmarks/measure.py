"""Measures one run: a server under the load of one workload in one setting, for some seconds."""

import json
import math
import os
import re
import resource
import secrets
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from benchmarks import dataset
from benchmarks.conditions import TRACEPARENT, headers_for
from benchmarks.places import HERE, WORK
from benchmarks.plan import Cell, Setting
from benchmarks.processes import DATABASE_CORE, SERVER_CORE, busy_seconds, cpu_seconds, resident_megabytes
from benchmarks.servers import Server
from benchmarks.workloads import operation


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one run. Times are in milliseconds; `*_cpu` is the CPU time of one request."""

    server: str
    workload: str
    condition: str
    transport: str
    connections: int
    round: int
    requests: int
    per_second: float
    p50: float
    p99: float
    server_cpu: float
    postgres_cpu: float
    load_cpu: float  # of wrk
    server_busy: float  # CPU time of the server divided by elapsed time: 1 is a whole core
    load_busy: float  # the same of PostgreSQL and wrk together
    server_core: float  # busy time of the core with any process, 0 to 1
    other_core: float
    bytes: float
    memory: float  # megabytes, resident
    errors: int
    odd: bool  # responses of another size than those that were checked

    @property
    def cell(self) -> Cell:
        return Cell(self.workload, Setting(self.condition, self.transport, self.connections), self.server)

    @property
    def total_cpu(self) -> float:
        return self.server_cpu + self.postgres_cpu

    @property
    def tail(self) -> float:
        """p99 divided by p50; infinite if no request was completed."""
        return self.p99 / self.p50 if self.p50 else math.inf

    @property
    def bound(self) -> str:
        """The core that limited the throughput, because it was full."""
        if self.server_busy >= 0.9:
            return "server"
        if self.load_busy >= 0.9:
            return "PostgreSQL + wrk"
        return "others" if max(self.server_core, self.other_core) >= 0.95 else "waiting"


class LoadError(Exception):
    """The load generator has failed, not the server."""


class Wrk(msgspec.Struct, frozen=True):
    """The output of load.lua. Times are in microseconds."""

    requests: int
    us: int
    bytes: int
    p50: int
    p99: int
    errors: int


def put_under_load(server: Server, workload: str, setting: Setting, seconds: int, bodies: Path) -> Wrk:
    headers = headers_for(setting.condition, server.credential_for(workload))
    environment = os.environ | load_environment(bodies, headers)
    command = f"wrk -t1 -c{setting.connections} -d{seconds}s --timeout 20s --script".split()
    done = subprocess.run(
        [*command, str(HERE / "load.lua"), server.url],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    found = re.search(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
    if not found:
        raise LoadError(f"wrk ended with {done.returncode} and no result: {done.stdout} {done.stderr}")
    return msgspec.json.decode(found[1], type=Wrk)


def load_environment(bodies: Path, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that load.lua reads."""
    return {
        "BODIES": str(bodies),
        "HEADERS": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        "SEED": str(secrets.randbelow(2**31)),  # no two runs send the same trace ids
        "TRACEPARENT": TRACEPARENT,
    }


def warm_up(server: Server, workload: str, setting: Setting, series: str) -> None:
    put_under_load(server, workload, setting, 1, write_bodies(server, workload, series))


def name_series(kind: str, number: int, setting: Setting) -> str:
    """Return the name of a run's series of bodies. Aliases contain it, so it has the form of a GraphQL name."""
    return "_".join([kind, str(number), setting.condition, setting.transport, str(setting.connections)])


def write_bodies(server: Server, workload: str, series: str) -> Path:
    path = WORK / "bodies.txt"
    path.write_text("\n".join(server.peer.dialect.bodies(workload, series)) + "\n")
    return path


def measure_with_retry(
    server: Server, workload: str, setting: Setting, seconds: int, number: int, postgres: int
) -> Run:
    """Measure a run. Repeat it once if the load generator fails, so that a benchmark of 40 minutes is not lost."""
    try:
        return measure(server, workload, setting, seconds, number, postgres)
    except LoadError as error:
        print(f"{server.name} {workload}: {error}", flush=True)
        server.database.clean()
        return measure(server, workload, setting, seconds, number, postgres)


def measure(server: Server, workload: str, setting: Setting, seconds: int, number: int, postgres: int) -> Run:
    """Warm up for a second, then measure. Takes the id of PostgreSQL's first process."""
    warm_up(server, workload, setting, name_series("w", number, setting))
    bodies = write_bodies(server, workload, name_series("m", number, setting))
    before = read_counters(server, postgres)
    start = time.monotonic()
    load = put_under_load(server, workload, setting, seconds, bodies)
    wall = time.monotonic() - start
    after = read_counters(server, postgres)
    server_cpu, postgres_cpu, wrk_cpu, server_core, other_core = (b - a for a, b in zip(before, after, strict=True))
    requests = max(load.requests, 1)
    size = load.bytes / requests
    expected = server.sizes[workload, setting.condition]
    missing = count_missing(server, load.requests) if operation(workload) == "create" else 0
    return Run(
        server=server.name,
        workload=workload,
        condition=setting.condition,
        transport=setting.transport,
        connections=setting.connections,
        round=number,
        requests=load.requests,
        per_second=load.requests / (load.us / 1e6),
        p50=load.p50 / 1e3,
        p99=load.p99 / 1e3,
        server_cpu=server_cpu / requests * 1e3,
        postgres_cpu=postgres_cpu / requests * 1e3,
        load_cpu=wrk_cpu / requests * 1e3,
        server_busy=server_cpu / wall,
        load_busy=(postgres_cpu + wrk_cpu) / wall,
        server_core=server_core / wall,
        other_core=other_core / wall,
        bytes=size,
        memory=resident_megabytes(server.pid),
        errors=load.errors + missing,
        odd=abs(size - expected) > 100 + expected / 4,
    )


def read_counters(server: Server, postgres: int) -> list[float]:
    """Return the CPU seconds so far of the server, of PostgreSQL, of wrk, and of all processes on each core."""
    wrk = resource.getrusage(resource.RUSAGE_CHILDREN)  # no other child process ends during a run
    ended = wrk.ru_utime + wrk.ru_stime
    return [cpu_seconds(server.pid), cpu_seconds(postgres), ended, *map(busy_seconds, (SERVER_CORE, DATABASE_CORE))]


def count_missing(server: Server, requests: int) -> int:
    """Return the number of posts that were reported as created but are not stored. Then delete the created posts."""
    stored: int = server.database.row(f"SELECT count(*) FROM blog_post WHERE id > {dataset.POSTS}")[0]
    server.database.clean()
    return max(0, requests - stored)


def save(runs: list[Run], path: Path) -> None:
    path.write_text("".join(json.dumps(msgspec.to_builtins(run)) + "\n" for run in runs))
