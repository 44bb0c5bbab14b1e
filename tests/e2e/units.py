"""The systemd units of deploy/, as a service manager reads them, and a socket that receives notifications."""

import re
import shlex
import socket
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNITS = ROOT / "deploy" / "systemd"
INSTALLED = "/opt/contentapi/"
PATIENCE = 180


def read_unit(name: str, key: str) -> list[str]:
    """Return the values of a key in a unit and the common drop-in, in order."""
    texts = [(UNITS / "contentapi-.service.d/common.conf").read_text(), (UNITS / name).read_text()]
    return re.findall(rf"^{key}=(.*)$", "\n".join(texts), re.MULTILINE)


def read_command(name: str, folder: Path) -> list[str]:
    """Return the arguments of ExecStart for a checkout in `folder`."""
    (command,) = read_unit(name, "ExecStart")
    return shlex.split(command.replace(INSTALLED, f"{shlex.quote(str(folder))}/"))


def read_variables(name: str, instance: str) -> dict[str, str]:
    """Return the variables of Environment. `instance` replaces %i."""
    pairs = " ".join(read_unit(name, "Environment")).replace("%i", instance).split()
    return dict(pair.split("=", 1) for pair in pairs)


class NotificationSocket:
    """The socket to which a service sends its notifications."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))

    def close(self) -> None:
        self.socket.close()

    def receive(self, timeout: float = PATIENCE) -> str | None:
        """Return the next message. Return None if there is none within `timeout` seconds."""
        self.socket.settimeout(timeout)
        try:
            return self.socket.recv(1000).decode()
        except TimeoutError:
            return None

    def wait_for(self, message: str, timeout: float = PATIENCE) -> bool:
        """Return whether the message arrives within `timeout` seconds. Drop the messages before it."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            received = self.receive(left)
            if received is not None and message in received.splitlines():
                return True
        return False
