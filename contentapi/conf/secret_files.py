"""Secret values of a checkout: generated once, stored in files under var/ that only their owner can read."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the content of `path`; create it with `make` if it does not exist. Concurrent calls get the same value."""
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    except PermissionError as error:
        raise build_wrong_owner_exit(path) from error
    draft = write_draft(path, make())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
    return path.read_text()


def write_atomically(path: Path, value: str) -> None:
    """Write a value to `path`. A reader sees the old or the new value, never a part of it."""
    write_draft(path, value).replace(path)


def write_draft(path: Path, value: str) -> Path:
    """Write the value to a temporary file of mode 0600 beside `path`. Return the path of that file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
    except PermissionError as error:
        raise build_wrong_owner_exit(path) from error
    with os.fdopen(handle, "w") as file:
        file.write(value)
    return Path(draft)


def build_wrong_owner_exit(path: Path) -> SystemExit:
    return SystemExit(f"{path.parent} belongs to another user: run as that user, or remove that folder.")
