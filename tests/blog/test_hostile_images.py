"""208 hostile files: no process above the limits, no metadata in what is made, and a reason for each refusal."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PIL import Image

from blog.images.formats import MAX_MEMORY, SIGNATURE, detect_format
from blog.images.processing import BREAKDOWNS, COMMAND, ROOT
from contentapi.conf.timeouts import IMAGE_LIMIT
from contentapi.core.identity import Role
from tests.factories import make_actor
from tests.hostile_images import MAKERS, SCRIPT, HostileFile, Made
from tests.image_files import SECRET
from tests.resources import send_request

pytestmark = pytest.mark.thorough
# Linux counts the memory of the process that starts a child as the child's: this one is small, the tests are not.
LAUNCHER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = usage.ru_utime + usage.ru_stime
print(json.dumps([done.stdout.decode(), done.returncode, usage.ru_maxrss * 1024, seconds]))
"""


class Run(NamedTuple):
    """The end of a child process: what it printed, its status, its bytes of memory and its seconds of the processor."""

    printed: dict[str, Any]
    status: int
    memory: int
    seconds: float


def process(file: HostileFile, folder: Path) -> Run:
    source, files = folder / "source", folder / "files"
    files.mkdir(parents=True)
    source.write_bytes(file.content)
    command: list[str | Path] = [*COMMAND, source, files, "on", str(MAX_MEMORY), str(IMAGE_LIMIT)]
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    printed, *usage = json.loads(subprocess.run(launcher, cwd=ROOT, capture_output=True, check=True).stdout)
    return Run(json.loads(printed) if printed else {}, *usage)


def report(file: HostileFile, run: Run) -> None:
    """Print a line of the matrix, which `pytest -s` shows."""
    outcome = run.printed.get("rejection") or ("accepted" if run.printed else f"status {run.status}")
    sys.stdout.write(f"{file.name:45} {run.memory / 2**20:4.0f} MiB {run.seconds:6.2f} s  {outcome}\n")


def find_leaks(folder: Path, names: list[str]) -> list[str]:
    """Return the files that have something beside the image."""
    leaks = []
    for name in names:
        path = folder / "files" / name
        content = path.read_bytes()
        with Image.open(path) as image:
            has_metadata = bool(image.getexif()) or bool({"exif", "xmp", "icc_profile", "comment"} & set(image.info))
        if has_metadata or SECRET.encode() in content or SCRIPT[:8] in content:
            leaks.append(name)
    return leaks


@pytest.mark.parametrize(("make", "number"), MAKERS.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_hostile_files_cost_no_more_than_the_limits_and_leave_no_metadata(
    tmp_path: Path, make: Callable[[], Made], number: int
) -> None:
    files = [HostileFile(*each) for each in make()]
    problems = []
    for index, file in enumerate(files):
        folder = tmp_path / str(index)
        run = process(file, folder)
        report(file, run)
        is_accepted = "files" in run.printed
        if file.is_accepted not in (None, is_accepted):
            problems.append(f"{file.name}: {run.printed or run.status}")
        if not is_accepted and not run.printed.get("rejection") and run.status not in BREAKDOWNS:
            problems.append(f"{file.name}: no reason (status {run.status})")
        if run.memory > MAX_MEMORY or run.seconds > IMAGE_LIMIT + 2:
            problems.append(f"{file.name}: {run.memory:,} bytes, {run.seconds} s")
        if is_accepted and (leaks := find_leaks(folder, run.printed["files"])):
            problems.append(f"{file.name}: {leaks}")
        shutil.rmtree(folder)

    assert problems == []
    assert len(files) == number


@pytest.mark.django_db
@pytest.mark.usefixtures("media")
@pytest.mark.parametrize("make", MAKERS, ids=lambda each: getattr(each, "__name__", ""))
def test_hostile_files_are_accepted_by_their_first_bytes_or_refused(make: Callable[[], Made]) -> None:
    actor, statuses = make_actor(Role.AUTHOR), dict[str, int]()
    for name, content, _ in make():
        response = send_request("POST", "/images", content, actor=actor, content_type="image/png")
        statuses[name] = response.status
        assert (response.status == 201) is (detect_format(content[:SIGNATURE]) is not None), name

    assert {*statuses.values()} <= {201, 415}
