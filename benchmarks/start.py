"""`python -m benchmarks.start`: measure the start of a server, and the memory of its processes.

The times are those to the first response, on the clock and of the processors. RSS counts what processes share once for
each of them. PSS divides it by their number, so that its sum is what the server takes of the machine's memory. Measure
on an idle machine: other processes that use the same files lower PSS.
"""

import argparse
import time

from benchmarks.install import describe_python, use_optimised_python
from benchmarks.places import WORK
from benchmarks.processes import cpu_seconds, with_descendants
from contentapi.db.embedded.server import EmbeddedServer
from tests.deployment.hosts import Host
from tests.deployment.processes import SERVERS

ROUNDS = 4  # the first one compiles the modules, and is not shown
REQUESTS = 300
QUERY = "{ posts(limit: 10) { title body tags commentCount author { name } comments { body author { name } } } }"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=SERVERS, default="granian")
    parser.add_argument("--workers", default="1", metavar="N", help="beside the master; default: 1")
    options = parser.parse_args()
    use_optimised_python()
    place = WORK / "start"
    place.mkdir(parents=True, exist_ok=True)
    EmbeddedServer(place / "postgres").acquire()  # so that no start waits for PostgreSQL
    variables = {"CONTENTAPI_VAR": str(place), "WEB_CONCURRENCY": options.workers}
    host = Host(place / "server.log", variables, server=options.server)
    for command in ("migrate", "load_demo"):
        host.manage(command)
    print(f"Python {describe_python()}\n")
    print("| s | CPU s | RSS MB | PSS MB | RSS after requests | PSS after requests |\n|--:|--:|--:|--:|--:|--:|")
    for number in range(ROUNDS):
        figures = measure(host)
        if number:
            print(f"| {' | '.join(f'{figure:.2f}' if figure < 10 else f'{figure:.0f}' for figure in figures)} |")


def measure(host: Host) -> list[float]:
    """Start the server, send requests, and stop it. Return a row of the table."""
    begin = time.monotonic()
    try:
        host.start()
        times = [time.monotonic() - begin, cpu_seconds(host.pid)]
        before = measure_memory(host)
        for _ in range(REQUESTS):
            host.request("POST", "/graphql", {"query": QUERY})
            host.request("GET", "/posts")
        return [*times, *before, *measure_memory(host)]
    finally:
        host.stop()


def measure_memory(host: Host) -> list[float]:
    """Return the RSS and the PSS of the processes of the server in megabytes."""
    memory = [process.memory_full_info() for process in with_descendants(host.pid)]
    return [sum(each.rss for each in memory) / 1e6, sum(each.pss for each in memory) / 1e6]


if __name__ == "__main__":
    main()
