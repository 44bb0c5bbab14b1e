"""Measure reads through haproxy with wrk, and the processor time of each part."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import cpu_seconds
from benchmarks.scale.deployment import Deployment

CONNECTIONS = 16
QUERY = "query Page($n: Int) { posts(limit: $n) { id title publishedAt tags author { id name } } }"
SCRIPT = """
wrk.method, wrk.body = "POST", [[{body}]]
wrk.headers["Content-Type"] = "application/json"
{credential}
function done(summary, latency, requests)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format('\\nRESULT {{"requests":%d,"us":%d,"p50":%d,"p99":%d,"errors":%d}}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), errors))
end
"""


class Reads(NamedTuple):
    """Requests each second, latency in milliseconds, and processor time in milliseconds for each request."""

    name: str
    credential: str
    per_second: float
    p50: float
    p99: float
    errors: int
    hosts: float
    primary: float
    replicas: float


def measure_reads(deployment: Deployment, name: str, credential: str, seconds: int) -> Reads:
    """Measure for `seconds`, after a short warm-up."""
    script = deployment.folder / "load.lua"
    body = json.dumps({"query": QUERY, "variables": {"n": 10}})
    header = f'wrk.headers["Authorization"] = "Bearer {deployment.token}"' if credential == "JWT" else ""
    script.write_text(SCRIPT.format(body=body, credential=header))
    run_wrk(deployment, script, 2)
    before = read_cpu_times(deployment)
    result = run_wrk(deployment, script, seconds)
    spent = [(after - at_start) * 1000 for after, at_start in zip(read_cpu_times(deployment), before, strict=True)]
    hosts, primary, replicas = (part / result["requests"] for part in spent)
    per_second = result["requests"] / (result["us"] / 1e6)
    latency = result["p50"] / 1000, result["p99"] / 1000
    return Reads(name, credential, per_second, *latency, result["errors"], hosts, primary, replicas)


def run_wrk(deployment: Deployment, script: Path, seconds: int) -> dict[str, int]:
    url = f"http://127.0.0.1:{deployment.port}/graphql"
    command = ["wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{seconds}s", "--script"]
    done = subprocess.run(
        [*command, str(script), url], capture_output=True, text=True, check=True, timeout=seconds + 30
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    result: dict[str, int] = json.loads(line.removeprefix("RESULT "))
    return result


def read_cpu_times(deployment: Deployment) -> tuple[float, float, float]:
    """Return the processor seconds of the hosts, of the primary and of the replicas until now."""
    hosts = sum(cpu_seconds(host.process.pid) for host in deployment.hosts if host.process)
    replicas = sum(cpu_seconds(replica.process.pid) for replica in deployment.replicas if replica.process)
    primary = deployment.primary.process
    return hosts, cpu_seconds(primary.pid) if primary else 0.0, replicas
