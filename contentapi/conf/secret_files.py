"""Values that one checkout makes once and keeps in var/, readable by their owner only."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the value kept at `path`; make it first when there is none. Two at once get the same value."""
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    except PermissionError as trouble:
        raise permission_error(path) from trouble
    draft = write_draft(path, make())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
    return path.read_text()


def write_atomically(path: Path, value: str) -> None:
    """Keep this value at `path` from now on. A reader sees the old one or the new one, never half of it."""
    write_draft(path, value).replace(path)


def write_draft(path: Path, value: str) -> Path:
    """Write the value beside `path`, in a file of mode 0600."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
    except PermissionError as trouble:
        raise permission_error(path) from trouble
    with os.fdopen(handle, "w") as file:
        file.write(value)
    return Path(draft)


def permission_error(path: Path) -> SystemExit:
    return SystemExit(f"{path.parent} belongs to another user: run as that user, or remove that folder.")
