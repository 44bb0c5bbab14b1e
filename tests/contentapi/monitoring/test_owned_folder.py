"""The folder in memory: private, removed by its process, and by the next one after a kill."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from contentapi.monitoring.owned_folder import OwnedFolder

CHILD = """
import os, sys, time
from contentapi.monitoring.owned_folder import OwnedFolder
print(OwnedFolder(sys.argv[1]).path, flush=True)
time.sleep(60)
"""


@pytest.fixture
def prefix() -> str:
    return f"contentapi-test-{uuid4().hex}-"


def test_folder_is_private_and_removed(prefix: str) -> None:
    folder = OwnedFolder(prefix)

    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    folder.close()
    assert not folder.path.exists()


def test_folder_of_a_killed_process_is_removed_by_the_next(prefix: str) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD, prefix], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        os.utime(left, (0, 0))
        first = OwnedFolder(prefix)
        assert left.exists()  # its owner lives
        child.send_signal(signal.SIGKILL)
    os.utime(left, (0, 0))  # as if the child had ended a while ago
    second = OwnedFolder(prefix)

    assert not left.exists()
    assert first.path.exists()
    first.close()
    second.close()


def test_forked_child_does_not_remove_the_folder(prefix: str) -> None:
    folder = OwnedFolder(prefix)
    folder.owner = os.getpid() + 1  # as in a child

    folder.close()

    assert folder.path.exists()
    folder.owner = os.getpid()
    folder.close()
