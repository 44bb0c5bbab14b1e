"""Build the explorer's files: `python -m contentapi.graphql.explorer.build`, which takes Node.

The packages are pinned in package-lock.json, none of their scripts is run, and esbuild makes one script and one style
sheet of them. Nothing happens when these are there. Two at once wait for each other; one that was killed half-way is
made good by the next. With `--if-possible`, as `make run` has it, a failure costs a line and no more.
"""

import fcntl
import gzip
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from contentapi.graphql.explorer import BUILT, HERE, SOURCES, digest

# Two attempts within seconds: whoever has no network is not to wait for it.
PATIENCE = [
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=1000",
    "--fetch-timeout=20000",
]
INSTALL = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *PATIENCE]
BUNDLE = ["npm", "run", "--silent", "bundle"]


class CannotBuild(Exception):
    """The files could not be made: why, in a sentence."""


def main(arguments: list[str]) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # which `make` has blocked until here
    if_possible = arguments == ["--if-possible"]
    if (BUILT / digest()).is_dir() or (if_possible and not has_node()):
        return
    try:
        build()
    except CannotBuild as trouble:
        message = f"The explorer was not built: {trouble}"
        if not if_possible:
            sys.exit(message)
        print(message, "Everything else works; the next start tries again.", file=sys.stderr)  # noqa: T201


def has_node() -> bool:
    return all(shutil.which(program) for program in ("node", "npm"))


def build() -> None:
    """Make the files, unless another has made them meanwhile. Raises `CannotBuild`."""
    if not has_node():
        raise CannotBuild("it takes Node 18 or newer with npm.")
    BUILT.mkdir(parents=True, exist_ok=True)
    place = os.open(BUILT, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)  # let go of when this process ends, however it ends
        if not (BUILT / digest()).is_dir():
            print("Building the explorer (once; about 20 seconds)", file=sys.stderr)  # noqa: T201
            with TemporaryDirectory() as workshop:
                bundle(Path(workshop))
    finally:
        os.close(place)


def bundle(workshop: Path) -> None:
    for name in SOURCES:
        shutil.copy(HERE / name, workshop)
    run(INSTALL, workshop, "npm could not install its packages (is a registry reachable?).")
    run(BUNDLE, workshop, "esbuild could not bundle it.")
    made = workshop / "made"
    for file in list(made.iterdir()):
        Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
    replace(made)


def replace(made: Path) -> None:
    """Put what was made into its place in one step, and what was made from other sources away."""
    arriving = BUILT / "arriving"
    for outdated in BUILT.iterdir():
        shutil.rmtree(outdated)
    shutil.copytree(made, arriving)
    arriving.rename(BUILT / digest())


def run(command: list[str], folder: Path, trouble: str) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as problem:
        raise CannotBuild(f"{trouble} {problem.strerror}.") from None
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), "")
        raise CannotBuild(f"{trouble} {first}".rstrip())


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
