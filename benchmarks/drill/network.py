"""A network of its own for PostgreSQL: a network namespace and a pair of virtual interfaces. It needs root and Linux.

`cut` drops all packets silently in both directions: each side gets a wrong hardware address of the other one, so that
packets are sent and nobody receives them. Nothing is refused.
"""

import os
import shutil
import subprocess
import time

WRONG_ADDRESS = "02:00:00:00:00:66"


def can_cut_networks() -> bool:
    return os.geteuid() == 0 and shutil.which("ip") is not None


class Network:
    """The namespace. `server` is the address inside of it."""

    def __init__(self, number: int) -> None:
        self.name = f"drill{number}"
        self.outside, self.inside = f"dr{number}o", f"dr{number}i"
        block = number % 200 + 20
        self.client, self.server = f"10.213.{block}.1", f"10.213.{block}.2"

    def create(self) -> None:
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", self.inside)
        run("ip", "link", "set", self.inside, "netns", self.name)
        run("ip", "addr", "add", f"{self.client}/30", "dev", self.outside)
        run("ip", "link", "set", self.outside, "up")
        run("ip", "-n", self.name, "addr", "add", f"{self.server}/30", "dev", self.inside)
        run("ip", "-n", self.name, "link", "set", self.inside, "up")
        run("ip", "-n", self.name, "link", "set", "lo", "up")

    def enter(self) -> list[str]:
        """Return the beginning of a command that runs a program inside."""
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        wrong = ["lladdr", WRONG_ADDRESS, "nud", "permanent"]
        run("ip", "neigh", "replace", self.server, *wrong, "dev", self.outside)
        run("ip", "-n", self.name, "neigh", "replace", self.client, *wrong, "dev", self.inside)

    def join(self) -> None:
        run("ip", "neigh", "del", self.server, "dev", self.outside)
        run("ip", "-n", self.name, "neigh", "del", self.client, "dev", self.inside)

    def delete(self) -> None:
        for _ in range(20):  # the kernel may still release it
            subprocess.run(["ip", "link", "del", self.outside], check=False, capture_output=True)  # noqa: S607
            done = subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)  # noqa: S607
            if done.returncode == 0 or b"No such file" in done.stderr:
                return
            time.sleep(0.2)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
