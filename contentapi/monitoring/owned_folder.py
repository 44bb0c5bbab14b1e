"""A temporary folder that the processes of a server share, and that the server removes when it ends.

A server that was killed cannot remove its folder. The next server of the same account does it: the kernel has released
the lock of the process that is gone.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it is created for this account only
UNLOCKED_FOR = 60  # seconds, in which a new folder gets its lock
LOCK_FILE = "owner"  # a file in the folder, locked for as long as its process or a forked worker lives


class OwnedFolder:
    """A new folder with this prefix, by default in memory, which only this account can read. `remove` deletes it."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        parent = parent or (MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir()))
        remove_abandoned_folders(parent, prefix)
        self.path, self.lock = create_folder(parent, prefix)
        while not (self.path / LOCK_FILE).exists():  # another process removed it before it was locked
            os.close(self.lock)
            self.path, self.lock = create_folder(parent, prefix)
        self.owner = os.getpid()

    def remove(self) -> None:
        """Delete the folder. In a forked child this does nothing."""
        if self.owner == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.owner = 0


def create_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Return a new folder and its lock, which forked workers share."""
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    lock = os.open(path / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return path, lock


def remove_abandoned_folders(parent: Path, prefix: str) -> None:
    """Delete the folders of this account whose owner has ended."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            if not (folder / LOCK_FILE).exists() and time.time() - folder.stat().st_mtime < UNLOCKED_FOR:
                continue
            lock = os.open(folder / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
