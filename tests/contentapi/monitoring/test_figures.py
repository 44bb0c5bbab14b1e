"""What a process counts, and the snapshots of several processes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from contentapi.monitoring import exporter
from contentapi.monitoring.exporter import SnapshotCollector, is_process_alive
from contentapi.monitoring.figures import Figures, build_snapshot_name
from contentapi.monitoring.records import RequestRecord
from contentapi.monitoring.start import SnapshotWriter
from tests.concurrency import run_in_threads


def make_record(
    operation: str = "query posts", method: str = "POST", status: int = 200, **values: Any
) -> RequestRecord:
    record = RequestRecord(method, "/graphql")
    record.operation, record.status = operation, status
    for name, value in values.items():
        setattr(record, name, value)
    return record


@pytest.fixture
def figures() -> Figures:
    figures = Figures()
    figures.is_enabled = True
    return figures


def read_metrics(folder: Path) -> dict[str, float]:
    """Return the values that /metrics shows, by name and labels."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SnapshotCollector(folder))
    return {
        f"{sample.name}{json.dumps(sample.labels, sort_keys=True) if sample.labels else ''}": sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def test_request_is_counted_with_all_of_its_values(figures: Figures, tmp_path: Path) -> None:
    limited = SimpleNamespace(limit="cost", code="LIMIT_EXCEEDED")
    record = make_record(status=400, cost=7, size=100, waited=0.5, errors=[limited], statements=[0.0002, 0.2])
    figures.observe_request(record, 0.003)
    SnapshotWriter(figures, tmp_path, "server").write()

    metrics = read_metrics(tmp_path)

    labels = '{"operation": "query posts"}'
    assert metrics['contentapi_requests_total{"method": "POST", "operation": "query posts", "status": "400"}'] == 1
    assert metrics[f"contentapi_cost_total{labels}"] == 7
    assert metrics[f"contentapi_response_bytes_total{labels}"] == 100
    assert metrics["contentapi_slot_waits_total"] == 1
    assert metrics["contentapi_slot_wait_seconds_total"] == 0.5
    assert metrics['contentapi_limits_reached_total{"code": "LIMIT_EXCEEDED", "limit": "cost"}'] == 1
    assert metrics["contentapi_statement_duration_seconds_count"] == 2
    assert metrics["contentapi_statement_duration_seconds_sum"] == pytest.approx(0.2002)
    assert metrics['contentapi_statement_duration_seconds_bucket{"le": "0.0005"}'] == 1
    buckets = [metrics[f'contentapi_request_duration_seconds_bucket{{"le": "{bound}", "operation": "query posts"}}']
               for bound in ("0.001", "0.0025", "0.005", "10.0", "+Inf")]  # fmt: skip
    assert buckets == [0, 0, 1, 1, 1]
    assert metrics['contentapi_processes{"role": "server"}'] == 1


def test_unknown_method_and_operation_have_one_label(figures: Figures) -> None:
    for number in range(50):
        figures.observe_request(make_record("", f"X{number}", 405), 0.001)

    figures.take_snapshot()
    assert {kind: each.count for kind, each in figures.requests.items()} == {("other", "other", 405): 50}


def test_threads_lose_no_request(figures: Figures) -> None:
    def work() -> None:
        for _ in range(5000):
            figures.observe_request(make_record(statements=[0.001]), 0.001)

    run_in_threads(work, 8)

    figures.take_snapshot()
    assert figures.requests["query posts", "POST", 200].count == 40_000
    assert sum(figures.statement_buckets) == 40_000


CHILD = """
import sys
from pathlib import Path
from contentapi.monitoring.figures import MAX_PENDING, Figures
from contentapi.monitoring.start import SnapshotWriter
from contentapi.monitoring.records import RequestRecord
figures = Figures()
record = RequestRecord("GET", "/")
record.operation, record.status = "/posts", 200
for _ in range(3):
    figures.observe_request(record, 0.1)
SnapshotWriter(figures, Path(sys.argv[1]), "server").write()
"""


@pytest.mark.servers
def test_figures_of_ended_processes_stay_and_their_files_go(figures: Figures, tmp_path: Path) -> None:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SnapshotCollector(tmp_path))
    figures.observe_request(make_record("/posts", "GET"), 0.1)
    SnapshotWriter(figures, tmp_path, "server").write()

    for ended in (1, 2, 3):
        subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], check=True)
        text = generate_latest(registry).decode()
        assert f'contentapi_requests_total{{method="GET",operation="/posts",status="200"}} {1 + 3 * ended}.0' in text
        assert 'contentapi_processes{role="server"} 1.0' in text
        assert [path.name for path in tmp_path.iterdir()] == [build_snapshot_name(psutil.Process())]


def test_snapshot_of_another_process_with_this_id_is_not_alive() -> None:
    name = build_snapshot_name(psutil.Process())

    assert is_process_alive(name)
    assert not is_process_alive(f"{os.getpid()}-1.00.json")
    assert not is_process_alive("nonsense.json")


def test_damaged_snapshot_is_left_out(figures: Figures, tmp_path: Path) -> None:
    SnapshotWriter(figures, tmp_path, "server").write()
    (tmp_path / f"{os.getppid()}-5.00.json").write_bytes(b'{"counters": [')

    assert 'contentapi_processes{"role": "server"}' in read_metrics(tmp_path)


def test_failure_to_write_is_one_line(figures: Figures, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = SnapshotWriter(figures, tmp_path / "gone", "server")

    writer.write()
    writer.write()

    assert [record.getMessage() for record in caplog.records] == [
        f"The metrics of process {os.getpid()} cannot be written: No such file or directory"
    ]


def test_address_in_use_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTENTAPI_METRICS_FOLDER", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=f"CONTENTAPI_METRICS_BIND: cannot listen on 127.0.0.1:{port}"):
            exporter.serve_metrics(f"127.0.0.1:{port}")
    assert "CONTENTAPI_METRICS_FOLDER" not in os.environ
