"""Build the explorer's files with Node and npm: `python -m contentapi.graphql.explorer.build`.

package-lock.json pins the packages, and none of their scripts is run. esbuild bundles them to one script and one style
sheet. Nothing happens if these exist. Concurrent builds run one after the other, and the next build repairs an
interrupted one. With `--if-possible`, which `make run` uses, a failure is only a message.
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

from contentapi.graphql.explorer import BUILT, HERE, SOURCES, hash_sources

# Two attempts within seconds, so that a start without a network does not wait.
NETWORK = [
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=1000",
    "--fetch-timeout=20000",
]
INSTALL = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *NETWORK]
BUNDLE = ["npm", "run", "--silent", "bundle"]


class CannotBuild(Exception):
    """The files could not be built. The message is the reason, as a sentence."""


def main(arguments: list[str]) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # blocked by `make` until here
    if_possible = arguments == ["--if-possible"]
    if (BUILT / hash_sources()).is_dir() or (if_possible and not has_node()):
        return
    try:
        build()
    except CannotBuild as error:
        message = f"The explorer was not built: {error}"
        if not if_possible:
            sys.exit(message)
        print(message, "Everything else works. The next start tries again.", file=sys.stderr)  # noqa: T201


def has_node() -> bool:
    return all(shutil.which(program) for program in ("node", "npm"))


def build() -> None:
    """Build the files, unless another process builds them first. Raises `CannotBuild`."""
    if not has_node():
        raise CannotBuild("it requires Node 18 or newer with npm.")
    BUILT.mkdir(parents=True, exist_ok=True)
    folder = os.open(BUILT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # released when this process ends
        if not (BUILT / hash_sources()).is_dir():
            print("Building the explorer (once; about 20 seconds)", file=sys.stderr)  # noqa: T201
            with TemporaryDirectory() as temporary:
                install_and_bundle(Path(temporary))
    finally:
        os.close(folder)


def install_and_bundle(folder: Path) -> None:
    for name in SOURCES:
        shutil.copy(HERE / name, folder)
    run(INSTALL, folder, "npm could not install its packages (is a registry reachable?).")
    run(BUNDLE, folder, "esbuild could not bundle it.")
    made = folder / "made"
    for file in list(made.iterdir()):
        Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
    # Replace the files of other sources. The new ones appear in one step.
    arriving = BUILT / "arriving"
    for outdated in BUILT.iterdir():
        shutil.rmtree(outdated)
    shutil.copytree(made, arriving)
    arriving.rename(BUILT / hash_sources())


def run(command: list[str], folder: Path, message: str) -> None:
    """Run a command. Raises `CannotBuild` with the message and the first line of the command's errors."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotBuild(f"{message} {error.strerror}.") from None
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), "")
        raise CannotBuild(f"{message} {first}".rstrip())


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
