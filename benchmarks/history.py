"""`python -m benchmarks.history`: add the cost of a request at this commit to `benchmarks/history.csv`.

A row has the processor time of three requests, of server and PostgreSQL together, divided by that of Mercurius with
DataLoader in the same run, and the thousands of instructions of four requests (`benchmarks.instructions`).

Rows that do not say how Python was built also count the making of each request's body, and are of a slow build. Rows
without processor times are the same commits, counted as today.

With `--check`, only the instructions are counted, and compared with the newest row of the same build of Python: other
builds execute other instructions. The exit status is 1 if a request has become more than 3 % heavier.
"""

import argparse
import csv
import subprocess
import sys
from datetime import date
from pathlib import Path

import msgspec

from benchmarks.install import describe_python, use_optimised_python
from benchmarks.instructions import KINDS, count_instructions
from benchmarks.measure import Run
from benchmarks.medians import find_medians
from benchmarks.places import HERE, RESULTS, ROOT
from benchmarks.plan import MAIN, Cell
from benchmarks.servers import BASELINE, OURS

HISTORY = HERE / "history.csv"
BASE = "mercurius-dataloader"
WORKLOADS = ("post", "page10", "create")
FIELDS = (
    "date",
    "commit",
    "python",
    *(f"cpu {name}" for name in WORKLOADS),
    *(f"instructions {kind}" for kind in KINDS),
)
ALLOWED_GROWTH = 0.03
Row = dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="count the instructions, and compare them")
    arguments = parser.parse_args()
    use_optimised_python()
    print(f"Python {describe_python()}", flush=True)
    if arguments.check:
        return check(find_newest_row(read_rows(HISTORY), describe_python()))
    ratios = measure_ratios()
    row = {"date": str(date.today()), "commit": read_commit(), "python": describe_python()}  # noqa: DTZ011 - the operator's day
    row |= {f"cpu {name}": f"{ratio:.2f}" for name, ratio in ratios.items()}
    row |= {f"instructions {kind}": f"{thousands:.0f}" for kind, thousands in count_thousands().items()}
    is_new = not HISTORY.exists()
    with HISTORY.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)
    print(row)
    return 0


def count_thousands() -> dict[str, float]:
    return {kind: instructions / 1000 for kind, instructions in count_instructions().items()}


def read_rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def find_newest_row(rows: list[Row], python: str) -> Row | None:
    return next((row for row in reversed(rows) if row["python"] == python), None)


def check(row: Row | None) -> int:
    """Count the instructions, and once more if there are too many: on a busy machine, other threads add to a count."""
    found = count_thousands()
    if not compare(found, row):
        return 0
    print("Counting once more:")
    again = count_thousands()
    return compare({kind: min(thousands, again[kind]) for kind, thousands in found.items()}, row)


def compare(found: dict[str, float], row: Row | None) -> int:
    """Print the instructions beside those of the row. Returns 1 if a request has become heavier than allowed."""
    status = 0
    for kind, thousands in found.items():
        if row is None:
            print(f"{kind}: {thousands:,.0f} thousand instructions; the history has none of this build of Python")
            continue
        growth = thousands / float(row[f"instructions {kind}"]) - 1
        is_heavier = growth > ALLOWED_GROWTH
        print(f"{kind}: {thousands:,.0f} thousand instructions, {growth:+.1%}{': too heavy' if is_heavier else ''}")
        status = status or int(is_heavier)
    return status


def measure_ratios() -> dict[str, float]:
    """Return the processor time of a request, divided by that of Mercurius, for each workload. It takes minutes."""
    options = f"--peers {OURS},{BASELINE},{BASE} --workloads {','.join(WORKLOADS)} --conditions varied --rounds 2"
    subprocess.run([sys.executable, "-m", "benchmarks", *options.split()], cwd=ROOT, check=True)
    lines = max(RESULTS.glob("*.json")).read_text().splitlines()
    medians = find_medians([msgspec.json.decode(line, type=Run) for line in lines])
    cpu = {cell: median.run.total_cpu for cell, median in medians.items()}
    return {name: cpu[Cell(name, MAIN, OURS)] / cpu[Cell(name, MAIN, BASE)] for name in WORKLOADS}


def read_commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
