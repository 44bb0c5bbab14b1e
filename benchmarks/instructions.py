"""`python -m benchmarks.instructions`: count the processor instructions of requests, without PostgreSQL's.

Each request goes through the complete WSGI application, with its rate limits, in a process under valgrind's callgrind.
The numbers do not depend on the load of the machine: two runs differ by less than 1 %. It needs valgrind.

Beside its four requests, it counts those of files: each has the JSON body of a request without a credential, which the
rows of `var/bench/instructions` answer.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.inside import send
from benchmarks.install import describe_python, use_optimised_python
from benchmarks.places import ROOT, WORK
from benchmarks.workloads import CREATE, PAGE, POST
from tests.deployment.processes import UNREACHED_RATES

WARM_UP, REQUESTS = 30, 60  # of each kind
KINDS = ("post", "page10", "create", "rest")
VALGRIND = "valgrind --quiet --tool=callgrind --instr-atstart=no --separate-threads=yes".split()
MEASURED = (sys.executable, "-m", "benchmarks.instructions", "--measured")
ENVIRONMENT = {
    "CONTENTAPI_LOG_SAMPLE": "0",
    "CONTENTAPI_VAR": str(WORK / "instructions"),
    "PYTHONHASHSEED": "0",
    **UNREACHED_RATES,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", type=Path, metavar="FOLDER", help="keep the profiles, for callgrind_annotate")
    parser.add_argument("bodies", type=Path, nargs="*", metavar="FILE", help="a further request to count")
    parser.add_argument("--measured", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measured:
        send_measured_requests(arguments.bodies)
        return
    use_optimised_python()
    print(f"Python {describe_python()}\n", flush=True)
    print("| Request | Thousands of instructions |\n|---|--:|")
    for kind, instructions in count_instructions(arguments.profiles, arguments.bodies).items():
        print(f"| {kind} | {instructions / 1000:,.0f} |")


def count_instructions(profiles: Path | None = None, bodies: Sequence[Path] = ()) -> dict[str, float]:
    """Return the instructions of a request of each kind, and of each file."""
    kinds = [*KINDS, *(path.stem for path in bodies)]
    environment = os.environ | ENVIRONMENT
    for command in (["migrate", "--noinput"], ["load_demo"]):
        subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True, stdout=sys.stderr
        )
    with TemporaryDirectory() as temporary:
        folder = (profiles or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        command = [*VALGRIND, f"--callgrind-out-file={folder}/out", *MEASURED, *map(str, bodies)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) as process:  # type: ignore[call-overload]
            for option in process.stdout:
                control(process.pid, option.strip())
                print(file=process.stdin, flush=True)
        if process.returncode:
            sys.exit("The measured process failed.")
        return {kind: read_total(folder / f"out.{number}-01") for number, kind in enumerate(kinds, 1)}


def control(process_id: int, option: str) -> None:
    """Let callgrind begin or end to count, or write what it has counted."""
    subprocess.run(["callgrind_control", option, str(process_id)], check=True, capture_output=True)  # noqa: S607


def read_total(profile: Path) -> float:
    """Return the instructions of one request in the profile of the first thread."""
    totals = next(line for line in profile.read_text().splitlines() if line.startswith("totals:"))
    return int(totals.split()[1]) / REQUESTS


# --- In the process under valgrind


def send_measured_requests(bodies: Sequence[Path]) -> None:
    from contentapi.wsgi import application

    requests = make_requests(application, bodies)
    for request in requests.values():
        repeat(request, WARM_UP)
    for kind, request in requests.items():
        ask("--instr=on")
        repeat(request, REQUESTS)
        ask(f"--dump={kind}")
        ask("--instr=off")


def make_requests(application: object, bodies: Sequence[Path]) -> dict[str, Callable[[], None]]:
    from blog.models import Post, PostStatus
    from contentapi.auth.people import get_user_by_email
    from contentapi.demo import AUTHOR
    from users.tokens import issue_token

    token = {"HTTP_AUTHORIZATION": f"Bearer {issue_token(user=get_user_by_email(AUTHOR), ttl=3600)}"}
    post_id = str(Post.objects.filter(status=PostStatus.PUBLISHED).earliest("pk").pk)
    numbers = count(time.time_ns() // 1_000_000)  # titles differ from those of earlier runs in the same database

    def build(query: str, make: Callable[[int], dict[str, object]], headers: dict[str, str]) -> Callable[[], None]:
        """Prepare the bodies and headers of all requests, which are no part of the count."""
        varied = iter(
            [
                (
                    json.dumps({"query": query, "variables": make(number), "extensions": {"n": number}}).encode(),
                    {
                        "HTTP_TRACEPARENT": f"00-{number:032x}-{1:016x}-00",
                        "HTTP_ORIGIN": "http://localhost:8000",
                        **headers,
                    },
                )
                for number in islice(numbers, WARM_UP + REQUESTS)
            ]
        )
        return lambda: send(application, *next(varied))

    def build_from_file(path: Path) -> Callable[[], None]:
        body = json.loads(path.read_bytes())
        return build(body["query"], lambda _: body.get("variables", {}), {})

    text = "A new post. " * 120
    resource = {"REQUEST_METHOD": "GET", "PATH_INFO": f"/posts/{post_id}", "CONTENT_LENGTH": "0"}
    return {
        "post": build(POST, lambda _: {"id": post_id}, {}),
        "page10": build(PAGE, lambda _: {"limit": 10, "status": "published"}, {}),
        "create": build(CREATE, lambda number: {"input": {"title": f"Post {number}", "body": text}}, token),
        "rest": lambda: send(application, b"", resource),
        **{path.stem: build_from_file(path) for path in bodies},
    }


def repeat(request: Callable[[], None], times: int) -> None:
    for _ in range(times):
        request()


def ask(option: str) -> None:
    """Ask the other process to control callgrind, and wait until it has done so."""
    print(option, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
