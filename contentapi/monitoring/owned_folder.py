"""A folder in memory that the processes of a server share, and that the server removes when it ends.

A server that was killed cannot remove its folder. The next server of the same account does it: the kernel has released
the lock of the process that is gone.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it is created for this account only
LOCK_FILE = "owner"  # a file in the folder, locked for as long as its process or a forked worker lives


class OwnedFolder:
    """A new folder with this prefix, which only this account can read. `remove` deletes it."""

    def __init__(self, prefix: str) -> None:
        parent = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
        remove_abandoned_folders(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self.owner = os.getpid()
        self.lock = os.open(self.path / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # forked workers share it

    def remove(self) -> None:
        """Delete the folder. In a forked child this does nothing."""
        if self.owner == os.getpid():
            shutil.rmtree(self.path, ignore_errors=True)


def remove_abandoned_folders(parent: Path, prefix: str) -> None:
    """Delete the folders of this account whose owner has ended."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
