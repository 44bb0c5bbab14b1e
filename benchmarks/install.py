"""Installs the packages of the peers under var/bench, from pinned lists. Repeats it only when a list changes."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.places import PEERS, ROOT, WORK
from contentapi.bootstrap import VENV, is_optimised
from tests.deployment.processes import INSTALL_PACKAGES

PROBE = "from contentapi.bootstrap import is_optimised; exit(not is_optimised())"
NODE = WORK / "node"
NODE_PEERS = PEERS / "node"
# The npm package `bun` depends on one package per platform, which contains the program.
BUN_PLATFORM = {"x86_64": "x64", "aarch64": "aarch64"}.get(platform.machine(), platform.machine())
BUN = NODE / "node_modules" / "@oven" / f"bun-linux-{BUN_PLATFORM}" / "bin" / "bun"


def python_of(kit: str) -> Path:
    """Return the folder of programs of a peer's virtual environment: `python` or `graphene`."""
    return WORK / f"venv-{kit}" / "bin"


def install(kit: str) -> None:
    """Install a kit: a virtual environment for Python, the modules for Node, or a commit of this project."""
    if kit == "node":
        install_node()
    elif kit.startswith("ours@"):
        install_commit(kit)
    elif kit:
        name = "requirements.txt" if kit == "python" else f"requirements-{kit}.txt"
        install_python(WORK / f"venv-{kit}", PEERS / "django" / name)


def install_python(folder: Path, pins: Path) -> None:
    def build() -> None:
        run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)])
        python, options = str(folder / "bin" / "python"), ["--quiet", "--requirement", str(pins)]
        uv = VENV / "bin" / "uv"  # needs a tenth of pip's time; of the packages for developers
        if not (uv.exists() and subprocess.call([uv, "pip", "install", "--python", python, *options]) == 0):
            pip = [str(VENV / "bin" / "python"), "-m", "pip", "--python", python, "install"]
            run([*pip, "--disable-pip-version-check", *options])

    install_once(folder, pins, build, sys.executable)


def use_optimised_python() -> None:
    """Run this program again with an optimised build of the same version of Python, if there is one on the path.

    Others execute an eighth more instructions for the same work. The packages are those of this environment.
    """
    if is_optimised():
        return
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for folder in os.get_exec_path():
        python = shutil.which(version, path=folder)
        if python and subprocess.call([python, "-c", PROBE], cwd=ROOT, stderr=subprocess.DEVNULL) == 0:
            program = python_of("ours") / "python"
            if not (program.exists() and program.samefile(python)):
                run([python, "-m", "venv", "--clear", "--without-pip", str(WORK / "venv-ours")])
                packages = WORK / "venv-ours" / "lib" / version / "site-packages"
                (packages / "ours.pth").write_text(f"{VENV.resolve()}/lib/{version}/site-packages\n")
            os.execv(program, [str(program), *sys.orig_argv[1:]])


def describe_python() -> str:
    """Return the version of this Python, when it was built, and how."""
    kind = "optimised" if is_optimised() else "not optimised"
    return f"{platform.python_version()} of {platform.python_build()[1]} ({kind})"


def install_commit(kit: str) -> None:
    """Copy the files of a commit, and install its packages. Exits if this clone does not have the commit."""
    folder = WORK / kit
    if not folder.exists():
        archive = WORK / f"{kit}.zip"
        run(["git", "archive", f"--output={archive}", kit.partition("@")[2]], ROOT)
        shutil.unpack_archive(archive, folder)
    install_python(WORK / f"venv-{kit}", folder / "requirements.txt")


def install_node() -> None:
    """Install the modules, and copy the peers beside them: Node looks for modules in the folders above a file."""
    shutil.copytree(NODE_PEERS, NODE, dirs_exist_ok=True)
    install_once(
        NODE / "node_modules",
        NODE_PEERS / "package-lock.json",
        # No peer needs an install script. Without scripts, all files come from the registry.
        lambda: run(INSTALL_PACKAGES, NODE),
    )


def install_once(folder: Path, pins: Path, build: Callable[[], None], python: str = "") -> None:
    """Build a folder unless it was built from the same list, by the same Python."""
    stamp, wanted = folder / "installed", hashlib.sha256(pins.read_bytes() + python.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Installing {pins.name} into {folder} (once)", flush=True)
    build()
    stamp.write_text(wanted)


def run(command: list[str], folder: Path | None = None) -> None:
    if subprocess.call(command, cwd=folder) != 0:
        sys.exit(f"Failed (see the output above): {' '.join(command)}")
