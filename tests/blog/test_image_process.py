"""The child process that makes the files of an image: its outcomes, its limits, and how it is stopped."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from blog.images import processing
from blog.images.processing import Outcome, process_file
from tests.image_files import make_jpeg


def run(tmp_path: Path, content: bytes, may_continue: Callable[[], bool] = lambda: True) -> Outcome | None:
    source, folder = tmp_path / "source", tmp_path / "files"
    source.write_bytes(content)
    folder.mkdir()
    return process_file(source, folder, may_continue)


def test_image_is_processed(tmp_path: Path) -> None:
    outcome = run(tmp_path, make_jpeg())

    assert outcome is not None
    assert outcome.result is not None
    assert (outcome.result["width"], outcome.result["content_type"]) == (400, "image/jpeg")
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == sorted(outcome.result["files"])


def test_bad_file_is_rejected_with_its_reason(tmp_path: Path) -> None:
    assert run(tmp_path, b"<svg/>") == Outcome(None, "The file is no image of the allowed formats, or is damaged.")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS ignores the limit of memory")
def test_file_that_breaks_a_limit_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing, "MAX_MEMORY", 64 * 2**20)

    outcome = run(tmp_path, make_jpeg(5000, 4000))

    assert outcome == Outcome(
        None,
        "The image cannot be processed with 64 MiB of memory and 20 s of processor time. Upload it in a smaller size.",
    )


def test_child_is_ended_when_the_worker_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing, "COMMAND", [sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(processing, "IMAGE_CLAIM_RENEWAL", 0.05)
    asked: list[bool] = []

    def may_continue() -> bool:
        asked.append(True)
        return len(asked) < 3

    assert run(tmp_path, b"", may_continue) is None
    assert len(asked) == 3


def test_child_imports_neither_django_nor_the_settings() -> None:
    code = "import sys, blog.images.variants; print({'django', 'psycopg', 'contentapi.conf'} & set(sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
