"""The medians of a benchmark as CSV: the file `results/servers.csv`."""

import csv
import io

from benchmarks.measure import Run
from benchmarks.medians import find_medians

COLUMNS = (
    "workload,condition,transport,connections,server,requests_per_second,p99_ms,p99_to_p50,"
    "server_cpu_ms,postgres_cpu_ms,cpu_ms,errors"
).split(",")


def summarise(runs: list[Run]) -> str:
    """Return a line of figures for each server, workload and setting."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for median in find_medians(runs).values():
        run = median.run
        place = [run.workload, run.condition, run.transport, run.connections, run.server]
        cpu = [f"{each:.3f}" for each in (run.server_cpu, run.postgres_cpu, run.total_cpu)]
        writer.writerow([*place, f"{run.per_second:.0f}", f"{run.p99:.2f}", f"{run.tail:.1f}", *cpu, run.errors])
    return text.getvalue()
