"""`python -m benchmarks.images`: measure images. Each part prints a table in Markdown.

* `uploads`: the requests of another client, and the delay of publications, while images of 24 megapixels are uploaded
  in a row and processed. Slow uploads are an attack: `make hostile ATTACKS=uploads-100`.
* `child`: processor time and memory of the process that makes the variants of a JPEG of 24 megapixels.
* `hostile`: the same for each hostile file of the tests.
* `delivery`: a file of 100 kB from granian, and from nginx and Caddy in front of it.

The deployment is that of `make drill`: two workers, Redis, PostgreSQL and the background worker, in a temporary folder.
"""

import argparse
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from PIL import Image

from benchmarks.drill.images import UNFINISHED, send
from benchmarks.drill.stack import Stack
from benchmarks.hostile.victim import Figures, Victim
from tests.deployment.proxies import start_caddy, start_nginx_with_media
from tests.hostile_images import MAKERS
from tests.image_child import MeasuredChild, Run

WINDOW = 5.0  # seconds of requests between two looks for the end of a phase
PUBLICATION_PAUSE = 5.0
AHEAD = timedelta(seconds=2)  # of the time at which a post will be published
NAME = f"media/7-{'0' * 32}/960.webp"
MIB = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.images", description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--uploads", type=int, default=100, help="default: 100")
    parser.add_argument("--seconds", type=float, default=60, help="without uploads, before and after; default: 60")
    options = parser.parse_args()
    for name in options.parts.split(","):
        print(f"\n{name}:\n", flush=True)
        PARTS[name](options)


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_header(*cells: str) -> None:
    print_row(*cells)
    print_row(*("--:" if place else "---" for place, _ in enumerate(cells)))


def make_photo() -> bytes:
    """Return a JPEG of 24 megapixels with about as many details as a photo."""
    noise = Image.effect_noise((1500, 1000), 60).resize((6000, 4000))
    file = BytesIO()
    gradient = Image.linear_gradient("L").resize(noise.size)
    Image.merge("RGB", (noise, gradient, noise.rotate(180))).save(file, "JPEG", quality=90)
    return file.getvalue()


def measure_uploads(options: argparse.Namespace) -> None:
    stack = Stack("granian")
    try:
        stack.start()
        while stack.database.query(UNFINISHED):  # those of the demo
            time.sleep(0.5)
        victim = Victim(stack.port, stack.key)
        victim.measure(WINDOW)
        before = measure_for(victim, options.seconds)
        uploader = Uploader(stack, make_photo(), options.uploads)
        publisher = Publisher(stack)
        uploader.start()
        publisher.start()
        uploading = measure_while(victim, uploader.is_alive)
        processing = measure_while(victim, lambda: bool(stack.database.query(UNFINISHED)))
        publisher.stopping.set()
        publisher.join()
        after = measure_for(victim, options.seconds)
        ready = stack.database.query("SELECT count(*) FROM blog_image WHERE width = 6000 AND status = 'ready'")
    finally:
        stack.stop()
    print_header("Images", "requests", "failed", "p50 ms", "p99 ms", "p99 to that without")
    without = join([before, after])
    for name, figures in (
        ("before", before),
        ("after", after),
        (f"{uploader.statuses[201]} uploads in {uploader.seconds:.0f} s", uploading),
        (f"{ready} are made", processing),
        ("both", join([uploading, processing])),
    ):
        ratio = figures.percentile(99) / without.percentile(99)
        times = (f"{figures.percentile(percent) * 1000:.1f}" for percent in (50, 99))
        print_row(name, len(figures.times), figures.failures.total(), *times, f"{ratio:.2f}")
    delays = publisher.delays
    print(f"\n{len(delays)} posts were published at most {max(delays, default=0):.1f} s late; the limit is 10 s.")


class Uploader(Thread):
    """A client that uploads the same file again and again."""

    def __init__(self, stack: Stack, content: bytes, number: int) -> None:
        super().__init__(daemon=True)
        self.stack, self.content, self.number = stack, content, number
        self.statuses = Counter[int]()
        self.seconds = 0.0

    def run(self) -> None:
        begin = time.monotonic()
        for _ in range(self.number):
            self.statuses[send(self.stack, "POST", "/images", self.content, "image/jpeg")[0]] += 1
        self.seconds = time.monotonic() - begin


class Publisher(Thread):
    """An editor who schedules posts, and notes how late each is published."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self.stack, self.stopping, self.delays = stack, Event(), list[float]()

    def run(self) -> None:
        while not self.stopping.wait(PUBLICATION_PAUSE):
            at = datetime.now(UTC) + AHEAD
            post = {"title": f"Due at {at}", "body": "b", "status": "scheduled", "publishAt": at.isoformat()}
            _, created = send(self.stack, "POST", "/posts", json.dumps(post).encode())
            while send(self.stack, "GET", f"/posts/{created['id']}")[1]["status"] != "published":
                time.sleep(0.1)
            self.delays.append((datetime.now(UTC) - at).total_seconds())


def measure_for(victim: Victim, seconds: float) -> Figures:
    end = time.monotonic() + seconds
    return measure_while(victim, lambda: time.monotonic() < end)


def measure_while(victim: Victim, condition: Callable[[], bool]) -> Figures:
    """Measure in windows. All have the same requests in the same order, so that the phases can be compared."""
    parts: list[Figures] = []
    while condition() or not parts:
        parts.append(victim.measure(WINDOW))
    return join(parts)


def join(parts: Iterable[Figures]) -> Figures:
    joined = Figures([], Counter())
    for part in parts:
        joined.times.extend(part.times)
        joined.failures.update(part.failures)
    return joined


def measure_child(_: argparse.Namespace) -> None:
    photo = make_photo()
    print_header(f"JPEG of 24 megapixels, {len(photo) / 1e6:.1f} MB", "processor s", "memory MiB", "files", "outcome")
    for avif in ("off", "on"):
        run = run_in_folder(photo, with_avif=avif == "on")
        print_row(
            f"AVIF {avif}", f"{run.seconds:.1f}", run.memory // MIB, len(run.printed.get("files", ())), run.outcome
        )


def run_in_folder(content: bytes, *, with_avif: bool = True) -> Run:
    with TemporaryDirectory() as folder, closing(MeasuredChild()) as child:
        return child.make_variants(content, Path(folder) / "run", with_avif=with_avif)


def measure_hostile(_: argparse.Namespace) -> None:
    print_header("File", "processor s", "memory MiB", "outcome")
    runs = []
    for make in MAKERS:
        for name, content, _is_accepted in make():
            runs.append(run := run_in_folder(content))
            print_row(name, f"{run.seconds:.2f}", run.memory // MIB, run.outcome)
    longest, most = max(run.seconds for run in runs), max(run.memory for run in runs)
    print(f"\n{len(runs)} files, at most {longest:.1f} s and {most // MIB} MiB.")


def measure_delivery(options: argparse.Namespace) -> None:
    stack = Stack("granian")
    with ExitStack() as running:
        running.callback(stack.stop)
        stack.start()
        file = stack.folder / "var/media" / NAME
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(100_000))
        ports = {"granian": stack.port}
        for name, start in (("nginx", start_nginx_with_media), ("Caddy", start_caddy)):
            folder = stack.folder / name
            folder.mkdir()
            (folder / "media").symlink_to(stack.folder / "var/media")
            ports[name] = running.enter_context(start(stack.port, folder))
        print_header("Delivery of 100 kB", "requests/s", "MB/s", "errors")
        for name, port in ports.items():
            print_row(name, *deliver(port, seconds=min(10, round(options.seconds))))


def deliver(port: int, *, seconds: int) -> tuple[str, str, str]:
    """Request a file on 16 connections. Return requests and megabytes per second, and what went wrong."""
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", f"http://127.0.0.1:{port}/{NAME}"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) requests in ([\d.]+)s", printed)
    rate = int(found[1]) / float(found[2]) if found else 0.0
    errors = re.findall(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", printed)
    return f"{rate:,.0f}", f"{rate / 10:,.0f}", "; ".join(errors) or "0"


PARTS = {"child": measure_child, "hostile": measure_hostile, "delivery": measure_delivery, "uploads": measure_uploads}

if __name__ == "__main__":
    main()
