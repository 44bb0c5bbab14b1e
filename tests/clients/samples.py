"""The recipes of docs/clients.md, followed as they are.

The info string of a block names the client: ```` ```sh client=urql ````. The blocks of a client are its recipe, which
begins in an empty folder. A block with `file=NAME` is saved under this name. The others are commands: one shell
executes them in their order, with the API key of the demo in its environment. A block with `text response` that follows
commands must equal their output. The server is at localhost:8000 and streams at localhost:8100, as in all of the
documentation.

The installed versions are pinned: packages of npm by the day of the lock file, those of Python by the lock file itself.
uv makes the virtual environment that the page names once, and takes the place of pip: both in a tenth of the time.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.clients.catalogue import HERE
from tests.clients.installation import INSTALLED
from tests.deployment.processes import ROOT, run_program
from tests.markdown import FencedBlock, find_fenced_blocks

PAGE = ROOT / "docs" / "clients.md"
RESPONSE = "text response"
ATTRIBUTE = re.compile(r"(client|file)=(\S+)")
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?(?P<rest>==[^\\\n]+)", re.MULTILINE)  # constraints have no extras
WITH_PIP = f"""
"{sys.executable}" -m uv venv --quiet --python "{sys.executable}" .venv
. .venv/bin/activate
pip() {{ "{sys.executable}" -m uv pip "$@" --python .venv; }}
"""
LOCKED_ON = "2026-11-23"  # when javascript/package-lock.json was last written


class Sample(NamedTuple):
    """A block of a recipe: a file, or commands and their output, if it is compared."""

    block: FencedBlock
    client: str
    file: str
    response: FencedBlock | None


def read_samples(page: Path = PAGE) -> list[Sample]:
    blocks: list[FencedBlock | None] = [*find_fenced_blocks(page.read_text()), None]
    samples = []
    for block, following in pairwise(blocks):
        attributes = dict(ATTRIBUTE.findall(block.info)) if block else {}
        if block and "client" in attributes:
            response = following if following and following.info == RESPONSE else None
            samples.append(Sample(block, attributes["client"], attributes.get("file", ""), response))
    return samples


def pin_versions() -> dict[str, str]:
    """Write the constraints of uv. Return the environment variables that pin what a recipe installs."""
    constraints = INSTALLED / "constraints.txt"
    pins = PIN.finditer((HERE / "python/requirements.txt").read_text())
    constraints.write_text("".join(f"{pin['name']}{pin['rest']}\n" for pin in pins))
    return {
        "npm_config_before": LOCKED_ON,
        "npm_config_prefer_offline": "true",
        "npm_config_update_notifier": "false",
        "UV_CONSTRAINT": str(constraints),
    }


def follow_recipe(
    samples: Sequence[Sample], folder: Path, ports: dict[str, int], environment: dict[str, str], timeout: float
) -> Iterator[str]:
    """Follow the recipe of a client in an empty folder. Yield what is wrong, with the line of the page.

    `ports` has those of the server and of streams by those of the documentation.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    commands = [sample for sample in samples if not sample.file]
    script = WITH_PIP if any("pip install" in sample.block.text for sample in commands) else ""
    for sample in samples:
        text = sample.block.text
        for written, port in ports.items():
            text = text.replace(f"localhost:{written}", f"localhost:{port}")
        if sample.file:
            path = folder / sample.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        else:
            script += f"{text}printf '\\0'\n"  # ends the output of the block
    done = run_program("bash", "-euo", "pipefail", "-c", script, cwd=folder, env=environment, timeout=timeout)
    *printed, rest = done.stdout.split("\0")
    if done.returncode != 0:
        yield f"{commands[len(printed)].block.line}: exit status {done.returncode}\n{rest}{done.stderr}"
    for sample, output in zip(commands, printed, strict=False):
        if sample.response and output.strip() != sample.response.text.strip():
            yield f"{sample.block.line}: printed\n{output}\ninstead of\n{sample.response.text}"
