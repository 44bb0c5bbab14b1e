"""Installs the packages of the peers under var/bench, from pinned lists. Repeats it only when a list changes."""

import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.places import PEERS, WORK

NODE = WORK / "node"
NODE_PEERS = PEERS / "node"
# The npm package `bun` depends on one package per platform, which contains the program.
BUN_PLATFORM = {"x86_64": "x64", "aarch64": "aarch64"}.get(platform.machine(), platform.machine())
BUN = NODE / "node_modules" / "@oven" / f"bun-linux-{BUN_PLATFORM}" / "bin" / "bun"


def python_of(kit: str) -> Path:
    """Return the folder of programs of a peer's virtual environment: `python` or `graphene`."""
    return WORK / f"venv-{kit}" / "bin"


def install(kit: str) -> None:
    """Install a kit: a virtual environment for Python, or the modules for Node."""
    if kit == "node":
        install_node()
    elif kit:
        name = "requirements.txt" if kit == "python" else f"requirements-{kit}.txt"
        install_python(WORK / f"venv-{kit}", PEERS / "django" / name)


def install_python(folder: Path, pins: Path) -> None:
    def build() -> None:
        run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, "--requirement", str(pins)])

    install_once(folder, pins, build)


def install_node() -> None:
    """Install the modules, and copy the peers beside them: Node looks for modules in the folders above a file."""
    shutil.copytree(NODE_PEERS, NODE, dirs_exist_ok=True)
    install_once(
        NODE / "node_modules",
        NODE_PEERS / "package-lock.json",
        # No peer needs an install script. Without scripts, all files come from the registry.
        lambda: run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], NODE),
    )


def install_once(folder: Path, pins: Path, build: Callable[[], None]) -> None:
    """Build a folder unless it was built from the same list."""
    stamp, wanted = folder / "installed", hashlib.sha256(pins.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Installing {pins.name} into {folder} (once)", flush=True)
    build()
    stamp.write_text(wanted)


def run(command: list[str], folder: Path | None = None) -> None:
    if subprocess.call(command, cwd=folder) != 0:
        sys.exit(f"Failed (see the output above): {' '.join(command)}")
