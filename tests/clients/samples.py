"""The code samples of docs/clients.md, run exactly as they are.

The info string of a sample names the client: ```` ```ts client=urql ````. The sample is written to a file in the folder
`samples` of that client, `sample-LINE.EXTENSION` or as `file=NAME` says, and run if it is a script. A block with
`text response` that follows must equal the output. A sample that has `file=` and no response is only written, for the
samples after it. The server is at localhost:8000, as in all of the documentation.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.clients.installation import INSTALLED, PYTHON
from tests.e2e.checkout import ROOT
from tests.markdown import FencedBlock, find_fenced_blocks

PAGE = ROOT / "docs" / "clients.md"
RESPONSE = "text response"
NODE_MODULES = INSTALLED / "javascript/node_modules/.bin"
COMMANDS = {
    **{language: ["node", str(INSTALLED / "javascript/run.mjs")] for language in ("js", "jsx", "ts", "tsx")},
    "py": [str(PYTHON)],
    "sh": ["bash", "-euo", "pipefail"],
}
ATTRIBUTE = re.compile(r"(client|file)=(\S+)")


class Sample(NamedTuple):
    """A code sample of the page. `file` is where it is written, in the client's folder."""

    block: FencedBlock
    client: str
    file: str
    response: FencedBlock | None

    @property
    def language(self) -> str:
        return self.block.info.split()[0]

    @property
    def is_run(self) -> bool:
        return self.language in COMMANDS and (self.response is not None or "file=" not in self.block.info)


def read_samples(page: Path = PAGE) -> list[Sample]:
    blocks: list[FencedBlock | None] = [*find_fenced_blocks(page.read_text()), None]
    samples = []
    for block, following in pairwise(blocks):
        attributes = dict(ATTRIBUTE.findall(block.info)) if block else {}
        if block and "client" in attributes:
            file = attributes.get("file", f"sample-{block.line}.{block.info.split()[0]}")
            response = following if following and following.info == RESPONSE else None
            samples.append(Sample(block, attributes["client"], file, response))
    return samples


def write_sample(sample: Sample, folder: Path, port: int) -> None:
    path = folder / sample.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sample.block.text.replace("localhost:8000", f"localhost:{port}"))


def run_sample(sample: Sample, folder: Path, environment: dict[str, str], timeout: float) -> Iterator[str]:
    """Run a sample that was written. Yields what is wrong."""
    command = [*COMMANDS[sample.language], sample.file]
    path = os.pathsep.join([str(NODE_MODULES), str(PYTHON.parent), environment["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    if done.returncode != 0:
        yield f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    elif sample.response and done.stdout.strip() != sample.response.text.strip():
        yield f"printed\n{done.stdout}\ninstead of\n{sample.response.text}"
