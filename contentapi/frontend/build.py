"""Build the files that browsers load with Node and npm: `python -m contentapi.frontend.build`.

package-lock.json pins the packages of the explorer, which esbuild bundles. The API reference is a file that its package
contains already; its version and hash are under `prebuilt` in package.json, because its dependencies are many and none
of them is needed. No script of a package is run. Nothing happens if the files exist. Concurrent builds run one after
the other, and the next build repairs an interrupted one. With `--if-possible`, a failure is only a message: `make run`
builds beside the server, which serves the files as soon as they exist.
"""

import base64
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contentapi.frontend import BUILT, HERE, SOURCES, hash_sources

# Two attempts within seconds, so that a start without a network does not wait.
NETWORK = [
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=1000",
    "--fetch-timeout=20000",
]
INSTALL = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *NETWORK]
DOWNLOAD = ["npm", "pack", "--ignore-scripts", "--silent", *NETWORK]
NO_NODE = "Node 18 or newer with npm is not installed."
BUNDLE = ["npm", "run", "--silent", "bundle"]
NO_REGISTRY = "npm could not install its packages (is a registry reachable?)."


class CannotBuild(Exception):
    """The files could not be built. The message is the reason, as a sentence."""


def main(arguments: list[str]) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # blocked by `make` until here
    if (BUILT / hash_sources()).is_dir():
        return
    try:
        build()
    except CannotBuild as error:
        message = (
            f"The explorer and the API reference were not built: {error} Until they are, browsers get plain pages at "
            "/graphql and /docs. Everything else works."
        )
        if arguments != ["--if-possible"]:
            sys.exit(message)
        print(message, "The next start tries again.", file=sys.stderr)  # noqa: T201


def has_node() -> bool:
    return all(shutil.which(program) for program in ("node", "npm"))


def build() -> None:
    """Build the files, unless another process builds them first. Raises `CannotBuild`."""
    if not has_node():
        raise CannotBuild(NO_NODE)
    BUILT.mkdir(parents=True, exist_ok=True)
    folder = os.open(BUILT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # released when this process ends
        if not (BUILT / hash_sources()).is_dir():
            print("Building the explorer and the API reference (once; about a minute)", file=sys.stderr)  # noqa: T201
            with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
                install_and_bundle(Path(temporary))
            print("The explorer and the API reference are built: reload their pages.", file=sys.stderr)  # noqa: T201
    finally:
        os.close(folder)


def install_and_bundle(folder: Path) -> None:
    for name in SOURCES:
        copy = shutil.copytree if (HERE / name).is_dir() else shutil.copy
        copy(HERE / name, folder / name)
    made = folder / "made"
    run(INSTALL, folder, NO_REGISTRY)
    run(BUNDLE, folder, "esbuild could not bundle the explorer.")
    for package, pinned in json.loads((HERE / "package.json").read_text())["prebuilt"].items():
        extract_files(download(package, pinned, folder), pinned, made)
    run(["node", "sources/compress.js", "made"], folder, "Node could not compress the files.")
    # Replace the files of other sources. The new ones appear in one step.
    arriving = BUILT / "arriving"
    for outdated in BUILT.iterdir():
        shutil.rmtree(outdated)
    shutil.copytree(made, arriving)
    arriving.rename(BUILT / hash_sources())


def download(package: str, pinned: dict[str, Any], folder: Path) -> Path:
    """Return the archive of a package. Raises `CannotBuild` if it has another hash than the pinned one (SRI)."""
    name = run([*DOWNLOAD, f"{package}@{pinned['version']}"], folder, NO_REGISTRY).strip().splitlines()[-1]
    archive = folder / name
    algorithm, _, digest = pinned["integrity"].partition("-")
    if hashlib.new(algorithm, archive.read_bytes()).digest() != base64.b64decode(digest):
        raise CannotBuild(f"{package} {pinned['version']} has another hash than the one in package.json.")
    return archive


def extract_files(archive: Path, pinned: dict[str, Any], target: Path) -> None:
    """Extract the files of a package's archive whose paths begin as `pinned` states, except source maps."""
    prefix = f"package/{pinned['folder']}/"
    wanted = tuple(prefix + start for start in pinned["files"])
    folder = target / pinned["name"]
    with tarfile.open(archive) as opened:
        for member in opened:
            content = opened.extractfile(member)
            is_map = member.name.endswith(".map")
            if content and member.name.startswith(wanted) and not is_map:
                path = folder / member.name.removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def run(command: list[str], folder: Path, message: str) -> str:
    """Run a command. Returns its output. Raises `CannotBuild` with the message and the first line of its errors."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotBuild(f"{message} {error.strerror}.") from None
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), "")
        raise CannotBuild(f"{message} {first}".rstrip())
    return done.stdout


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # deletes the temporary folder
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
