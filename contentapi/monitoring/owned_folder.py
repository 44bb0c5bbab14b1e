"""A temporary folder that the processes of a server share, and that the server removes when it ends.

A server that was killed cannot remove its folder. A later server of the same account does it: the kernel has released
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
YOUNG = 60  # seconds, in which a new folder gets its lock


class OwnedFolder:
    """A new folder with this prefix, by default in memory, which only this account can read. `close` deletes it."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        parent = parent or (MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir()))
        remove_abandoned_folders(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self.lock = os.open(self.path, os.O_RDONLY)  # held for as long as this process or a forked worker lives
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.owner = os.getpid()

    def close(self) -> None:
        """Delete the folder. In a forked child this does nothing."""
        if self.owner == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.owner = 0


def remove_abandoned_folders(parent: Path, prefix: str) -> None:
    """Delete the folders of this account whose owner has ended."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            state = folder.lstat()
            if state.st_uid != os.geteuid() or time.time() - state.st_mtime < YOUNG:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
