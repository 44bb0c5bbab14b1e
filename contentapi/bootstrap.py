"""Make the virtual environment hold what the lock files say. `python3 -m contentapi.bootstrap LOCK...`.

Runs before anything is installed: the standard library only, and syntax that an old Python can read far
enough to be told that it is too old. Nothing happens when the environment already holds the locks. Two at
once wait for each other; one that was killed half-way is made good by the next.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
NEWER_NAMES = ("python3.13", "python3.12", "python3.11", "python3.14")


def main(lock_names: "list[str]") -> None:
    require_supported_python(lock_names)
    import fcntl  # not on Windows, which `use_a_python_new_enough` has turned away

    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # which `make` has blocked until here
    project = os.open(str(ROOT), os.O_RDONLY)
    try:
        fcntl.flock(project, fcntl.LOCK_EX)  # let go of when this process ends, however it ends
        locks = [ROOT / name for name in lock_names]
        if not all(map(is_installed, locks)):
            for lock in locks:
                install(lock)
            for lock in locks:
                get_stamp_path(lock).write_text(digest(lock))
    finally:
        os.close(project)


def require_supported_python(lock_names: "list[str]") -> None:
    if os.name != "posix":
        sys.exit("The Content API runs on Linux and macOS (on Windows: in WSL).")
    if sys.version_info >= OLDEST:
        return
    for name in NEWER_NAMES:
        newer = shutil.which(name)
        if newer and subprocess.call([newer, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(newer, [newer, "-m", "contentapi.bootstrap", *lock_names])
    sys.exit(
        "Python 3.11 or newer is needed, and {} is Python {}.{}. "
        "Install one, or name it: make run PYTHON=/path/to/python3".format(sys.executable, *sys.version_info[:2])
    )


def is_installed(lock: Path) -> bool:
    """Say whether the environment works and what this lock names was the last thing installed from it."""
    try:
        installed = get_stamp_path(lock).read_text()
        works = subprocess.call([str(VENV / "bin" / "python"), "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False
    return works and installed == digest(lock)


def install(lock: Path) -> None:
    print("Installing {} into .venv (once; about a minute)".format(lock.name), file=sys.stderr)
    python = VENV / "bin" / "python"
    if subprocess.call([sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL) != 0:
        sys.exit("Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv, then try again.")
    if not python.exists() or subprocess.call([str(python), "-m", "pip", "--version"], stdout=subprocess.DEVNULL):
        run([sys.executable, "-m", "venv", "--clear", str(VENV)], "The virtual environment could not be made")
    for outdated in VENV.glob("*.installed"):  # the locks share packages: until pip is done, neither is known to hold
        outdated.unlink()
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    run(
        [*pip, "--require-hashes", "--only-binary=:all:", "--requirement", str(lock)],
        "The locked dependencies could not be installed (is a package index reachable?)",
    )


def run(command: "list[str]", trouble: str) -> None:
    """Run a command; end with its exit status and one line of explanation when it fails."""
    if subprocess.call(command) != 0:
        sys.exit("{}. See above; try again once it is mended.".format(trouble))


def get_stamp_path(lock: Path) -> Path:
    return VENV / (lock.stem + ".installed")


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
