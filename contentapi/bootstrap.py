"""Install the lock files into the virtual environment: `python3 -m contentapi.bootstrap LOCK...`.

This runs before anything is installed: it uses the standard library only, and syntax that an old Python can parse, so
that it can report that this Python is too old. It does nothing if the locks are installed. Concurrent runs wait for
each other. The next run repairs an interrupted one.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
NEWER_NAMES = ("python3.13", "python3.12", "python3.11", "python3.14")


def main(lock_names: "list[str]") -> None:
    require_supported_python(lock_names)
    import fcntl  # does not exist on Windows, where `require_supported_python` exits

    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # `make` blocks it until here
    project = os.open(str(ROOT), os.O_RDONLY)
    try:
        fcntl.flock(project, fcntl.LOCK_EX)  # released when this process ends, also if it is killed
        locks = [ROOT / name for name in lock_names]
        if not all(map(is_installed, locks)):
            for lock in locks:
                install(lock)
            for lock in locks:
                get_stamp_path(lock).write_text(hash_file(lock))
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
    """Return whether the environment works and was last installed from this lock."""
    try:
        installed = get_stamp_path(lock).read_text()
        works = subprocess.call([str(VENV / "bin" / "python"), "-c", ""], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False
    return works and installed == hash_file(lock)


def install(lock: Path) -> None:
    print("Installing {} into .venv (once; about a minute)".format(lock.name), file=sys.stderr)
    python = VENV / "bin" / "python"
    if subprocess.call([sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL) != 0:
        sys.exit("Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv. Then try again.")
    if not python.exists() or subprocess.call([str(python), "-m", "pip", "--version"], stdout=subprocess.DEVNULL):
        run([sys.executable, "-m", "venv", "--clear", str(VENV)], "The virtual environment could not be created")
    for outdated in VENV.glob("*.installed"):  # the locks share packages: neither is installed until pip is done
        outdated.unlink()
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    run(
        [*pip, "--require-hashes", "--only-binary=:all:", "--requirement", str(lock)],
        "The locked dependencies could not be installed (is a package index reachable?)",
    )


def is_optimised() -> bool:
    """Return whether this Python was built with profiles. Those of distributions are; Debian's does not say so."""
    return "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "") or sys.base_prefix == "/usr"


def run(command: "list[str]", error: str) -> None:
    """Run a command. If it fails, exit with status 1 and this message."""
    if subprocess.call(command) != 0:
        sys.exit("{}. See the output above. Correct the problem, then try again.".format(error))


def get_stamp_path(lock: Path) -> Path:
    return VENV / (lock.stem + ".installed")


def hash_file(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
