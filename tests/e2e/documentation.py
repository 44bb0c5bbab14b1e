"""Runnable examples of the documentation: what they are, and how they are run and compared.

A fenced block with the info string `sh runnable` contains commands, one with `js runnable` a program for Node, and one
with `graphql runnable` a document that is sent without a credential. If a block with `json response` follows, the
output must equal it; the string "…" in a response represents any value.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.deployment.checkout import Run
from tests.deployment.processes import PATIENCE
from tests.markdown import FencedBlock, find_fenced_blocks

RUNNABLE = ("sh runnable", "graphql runnable", *(["js runnable"] if shutil.which("node") else []))
ANY_VALUE = "…"


class Example(NamedTuple):
    """A runnable block, and the response that follows it, if there is one."""

    document: Path
    block: FencedBlock
    response: FencedBlock | None

    def __str__(self) -> str:
        return f"{self.document.name}:{self.block.line}"


def documents(root: Path) -> list[Path]:
    """Return README.md, then all other pages of the documentation, and the README of each example."""
    top = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    pages = [*sorted((root / "docs").rglob("*.md")), *sorted((root / "examples").glob("*/README.md"))]
    return [path for path in (*top, *pages) if path.exists()]


def examples(document: Path) -> list[Example]:
    blocks: list[FencedBlock | None] = [*find_fenced_blocks(document.read_text()), None]
    return [
        Example(document, block, following if following and following.info == "json response" else None)
        for block, following in pairwise(blocks)
        if block and block.info in RUNNABLE
    ]


def run_example(example: Example, run: Run) -> subprocess.CompletedProcess[str]:
    """Run an example in the checkout of a started server. An HTTP error fails it, unless its response is compared."""
    text = example.block.text.replace("localhost:8000", f"localhost:{run.port}")
    text = text.replace("localhost:8100", f"localhost:{run.stream_port}")
    if example.block.info == "graphql runnable":
        body = json.dumps({"query": text})
        script = f"curl http://localhost:{run.port}/graphql -H 'Content-Type: application/json' --data @-"
    elif example.block.info == "js runnable":
        body, script = text, "node --input-type=module"
    else:
        body, script = "", text
    folder = run.checkout.folder
    (folder / ".curlrc").write_text("silent\nshow-error\n" + ("" if example.response else "fail-with-body\n"))
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=run.checkout.environment(CURL_HOME=str(folder)),
        input=body,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def differences(expected: Any, actual: Any, place: str = "response") -> Iterator[str]:
    """Return where a value differs from an expected one, in which `ANY_VALUE` represents any value."""
    if expected == ANY_VALUE:
        return
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        for name, value in expected.items():
            yield from differences(value, actual[name], f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, value in enumerate(expected):
            yield from differences(value, actual[index], f"{place}[{index}]")
    elif expected != actual:
        yield f"{place}: {actual!r}, and the documentation has {expected!r}"
