"""The child process that makes the files of an image: its outcomes, its limits, and how it is stopped."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from blog.services import image_processing as processing
from blog.services.image_processing import process_file
from contentapi.core.limited_child import ChildEnded
from tests.image_files import encode, make_jpeg


def run(tmp_path: Path, content: bytes, may_continue: Callable[[], bool] = lambda: True) -> dict[str, Any] | None:
    source, folder = tmp_path / "source", tmp_path / "files"
    source.write_bytes(content)
    folder.mkdir()
    return process_file(source, folder, may_continue)


def test_image_is_processed(tmp_path: Path) -> None:
    outcome = run(tmp_path, make_jpeg())

    assert outcome is not None
    assert (outcome["width"], outcome["content_type"]) == (400, "image/jpeg")
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == sorted(outcome["files"])


def test_bad_file_is_rejected_with_its_reason(tmp_path: Path) -> None:
    assert run(tmp_path, b"<svg/>") == {"rejection": "The file is no image of the allowed formats, or is damaged."}


@pytest.mark.parametrize(
    ("kind", "before", "size", "reason"),
    [
        ("WEBP", b"/", (16_382 | 16_382 << 14).to_bytes(4, "little"), r"50 megapixels are allowed, .*\(got 268.4"),
        ("AVIF", b"ispe\0\0\0\0", (17_000).to_bytes(4) * 2, r"16,384 pixels a side are allowed \(got 17,000 x 17,000"),
    ],
)
def test_image_that_pillow_does_not_open_is_rejected_for_its_size(
    tmp_path: Path, kind: str, before: bytes, size: bytes, reason: str
) -> None:
    content = encode(Image.new("RGB", (8, 8)), kind, lossless=True)
    place = content.index(before) + len(before)

    outcome = run(tmp_path, content[:place] + size + content[place + len(size) :])

    assert outcome is not None
    assert re.search(f"At most {reason}", outcome["rejection"])


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS ignores the limit of memory")
def test_file_that_needs_more_memory_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing, "MAX_MEMORY", 192 * 2**20)

    outcome = run(tmp_path, encode(Image.new("L", (8000, 6000), 120), quality=10))

    assert outcome == {"rejection": "The image needs more memory than the limit. Upload it in a smaller size."}


@pytest.mark.parametrize("number", [signal.SIGPROF, signal.SIGSEGV])
def test_limit_or_error_of_a_decoder_that_ends_the_child_rejects_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    code = f"import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.kill(os.getpid(), {number})"
    monkeypatch.setattr(processing, "COMMAND", [sys.executable, "-c", code])

    assert run(tmp_path, b"") == {
        "rejection": "The image cannot be processed with 512 MiB of memory and 20 s of processor time. "
        "Upload it in a smaller size."
    }


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("raise OSError(28, 'No space left on device')", 1),
        ("import nothing_of_this_name", 1),
    ],
)
def test_other_ends_of_the_child_say_nothing_about_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, status: int
) -> None:
    monkeypatch.setattr(processing, "COMMAND", [sys.executable, "-c", code])

    with pytest.raises(ChildEnded) as ended:
        run(tmp_path, b"")
    assert ended.value.status == status


def test_child_is_ended_when_the_worker_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        processing, "COMMAND", [sys.executable, "-c", "import time; print(end='.', flush=True); time.sleep(600)"]
    )
    monkeypatch.setattr(processing, "CLAIM_RENEWAL", 0.05)
    asked: list[bool] = []

    def may_continue() -> bool:
        asked.append(True)
        return len(asked) < 3

    assert run(tmp_path, b"", may_continue) is None
    assert len(asked) == 3


def test_child_imports_neither_django_nor_the_settings() -> None:
    code = "import sys, blog.images.variants; print({'django', 'psycopg', 'contentapi.conf'} & set(sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
