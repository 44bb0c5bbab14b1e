"""`python -m benchmarks.monitoring`: measure what metrics, log lines and the record of a request cost.

Each request goes through the complete WSGI application in one process. The modes alternate in short blocks, so that a
slow moment of the machine hits all of them. Prints the median CPU time of a request without any of them, and the median
ratio of the pairs of each mode. The record itself cannot be switched off: its part is measured by itself.
"""

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.inside import send
from benchmarks.places import WORK

os.environ["CONTENTAPI_VAR"] = str(WORK / "monitoring")
os.environ["CONTENTAPI_RATE_ANONYMOUS"] = "999999999/minute"

from contentapi.wsgi import application

from django.core.management import call_command  # isort: skip

from blog.models import Post
from contentapi.monitoring.figures import FIGURES
from contentapi.monitoring.logs import JsonFormatter, LineFormatter, RequestIdFilter
from contentapi.monitoring.records import RequestRecord, current_record

PAIRS = 400
BLOCK = 40  # requests of a mode before the next one
QUERIES = {
    "`post`": "{ post(id: POST_ID) { title body status author { name } } }",
    "page of 10": "{ posts(limit: 10) { title status author { name } comments(limit: 3) { body author { name } } } }",
}
REQUESTS = logging.getLogger("contentapi.requests")


def main() -> None:
    call_command("migrate", verbosity=0)
    call_command("load_demo")
    post_id = Post.objects.earliest("pk").pk
    handler = logging.StreamHandler(Path(os.devnull).open("w"))  # noqa: SIM115 - until the process ends
    handler.addFilter(RequestIdFilter())
    REQUESTS.addHandler(handler)
    REQUESTS.propagate = False

    def use(*, metrics: bool = False, formatter: logging.Formatter | None = None) -> None:
        FIGURES.is_enabled = metrics
        REQUESTS.setLevel(logging.CRITICAL if formatter is None else logging.INFO)
        handler.setFormatter(formatter)

    modes: dict[str, Callable[[], None]] = {
        "nothing, a second time": use,
        "metrics": lambda: use(metrics=True),
        "JSON line": lambda: use(formatter=JsonFormatter()),
        "readable line": lambda: use(formatter=LineFormatter()),
    }
    print("| Request | CPU ms | Mode | ratio | quartiles |\n|---|--:|---|--:|---|")
    for words, query in QUERIES.items():
        body = json.dumps({"query": query.replace("POST_ID", str(post_id))}).encode()
        measure_seconds(body, 2000)
        for name, mode in modes.items():
            plain: list[float] = []
            ratios: list[float] = []
            for _ in range(PAIRS):
                use()
                plain.append(measure_seconds(body, BLOCK))
                mode()
                ratios.append(measure_seconds(body, BLOCK) / plain[-1])
            low, _, high = quantiles(ratios, n=4)
            cost = median(plain) * 1000 / BLOCK
            print(f"| {words} | {cost:.4f} | {name} | {median(ratios):.3f} | {low:.3f} to {high:.3f} |", flush=True)
    print(f"\nThe record of a request, by itself: {measure_record():.2f} microseconds.")


def measure_seconds(body: bytes, times: int) -> float:
    """Return the CPU time of several requests in seconds."""
    began = time.process_time()
    for _ in range(times):
        send(application, body, {})
    return time.process_time() - began


def measure_record(times: int = 100_000) -> float:
    """Return the time to create a record, to add a statement and to make it the current one, in microseconds."""
    began = time.process_time()
    for _ in range(times):
        record: Any = RequestRecord("POST", "/graphql")
        token = current_record.set(record)
        start = time.perf_counter()
        current_record.get().add_statement(time.perf_counter() - start)
        record.operation, record.status, record.size = "query post", 200, 1000
        current_record.reset(token)
    return (time.process_time() - began) * 1e6 / times


if __name__ == "__main__":
    main()
