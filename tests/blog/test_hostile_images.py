"""208 hostile files: no process above the limits, no metadata in what is made, and a reason for each refusal."""

import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from blog.images.formats import MAX_MEMORY, SIGNATURE, detect_format
from blog.models import Image as StoredImage
from blog.services.image_processing import BREAKDOWNS
from contentapi.conf.timeouts import IMAGE_LIMIT
from contentapi.core.identity import Role
from tests.factories import make_actor
from tests.hostile_images import MAKERS, SCRIPT, HostileFile, Made
from tests.image_child import MeasuredChild, Run
from tests.image_files import SECRET
from tests.resources import send_request

pytestmark = pytest.mark.thorough


def report(file: HostileFile, run: Run) -> None:
    """Print a line of the matrix, which `pytest -s` shows."""
    sys.stdout.write(f"{file.name:45} {run.memory / 2**20:4.0f} MiB {run.seconds:6.2f} s  {run.outcome}\n")


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


@pytest.mark.usefixtures("media")
@pytest.mark.parametrize(("make", "number"), MAKERS.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_hostile_files_are_refused_or_cost_no_more_than_the_limits_and_leave_no_metadata(
    tmp_path: Path, make: Callable[[], Made], number: int
) -> None:
    actor = make_actor(Role.AUTHOR)
    problems = []
    files = 0
    with closing(MeasuredChild()) as child:
        for file in map(HostileFile._make, make()):
            files += 1
            problems += list_problems(child, file, tmp_path / str(files))
            response = send_request("POST", "/images", file.content, actor=actor, content_type="image/png")
            is_known = detect_format(file.content[:SIGNATURE]) is not None
            expected = (201,) if file.is_accepted else (201, 422) if is_known else (415,)
            if response.status not in expected:
                problems.append(f"{file.name}: status {response.status}")
            StoredImage.objects.update(source="")  # so that more than 20 can be uploaded

    assert problems == []
    assert files == number


def list_problems(child: MeasuredChild, file: HostileFile, folder: Path) -> list[str]:
    """Process a file in a child process in a new folder. Return what is wrong with its costs and its results."""
    run = child.make_variants(file.content, folder)
    report(file, run)
    problems = []
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
    return problems
