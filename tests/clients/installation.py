"""Install the pinned packages of the clients under var/clients/, outside of the project's own environment.

Nothing is installed again as long as the lock file stays the same. The clients' sources are copied at each run.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.catalogue import HERE, Client, Runtime
from tests.deployment.processes import INSTALL_PACKAGES, ROOT

INSTALLED = ROOT / "var" / "clients"
UV = [sys.executable, "-m", "uv"]  # a tenth of the time of pip
PYTHON = INSTALLED / "venv/bin/python"


class CannotInstall(Exception):
    """The packages of a runtime could not be installed. The message is the reason."""


def find_missing_program(client: Client) -> str:
    """Return the program that a client needs and this machine does not have, or an empty string."""
    needed = ["node", "npm"] if client.runtime is Runtime.NODE else []
    needed += ["java"] if client.needs_java else []
    needed += [client.package] if client.package == "curl" else []
    return next((program for program in needed if not shutil.which(program)), "")


def install(runtime: Runtime) -> None:
    """Install the locked packages of a runtime, and copy the clients. Raises `CannotInstall`."""
    sources, folder = HERE / runtime.value, INSTALLED / runtime.value
    lock = sources / ("package-lock.json" if runtime is Runtime.NODE else "requirements.txt")
    stamp = INSTALLED / f"{runtime.value}.installed"
    locked = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == locked:
        copy_sources(sources, folder)
        return
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    copy_sources(sources, folder)
    if runtime is Runtime.NODE:
        run(INSTALL_PACKAGES, folder)
    else:
        run([*UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(PYTHON.parents[1])], folder)
        options = ["--quiet", "--require-hashes", "--no-build", "--python", str(PYTHON)]
        run([*UV, "pip", "install", *options, "--requirement", str(lock)], folder)
    stamp.write_text(locked)


def copy_sources(sources: Path, folder: Path) -> None:
    """Replace the clients in `folder` by those of the repository. Installed packages stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in [*folder.glob("*/*"), *(path for path in folder.glob("*") if path.is_file())]:
        if "node_modules" not in each.relative_to(folder).parts:
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    shutil.copytree(sources, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotInstall(f"{' '.join(command[:3])}: {done.stderr[-2000:]}")
