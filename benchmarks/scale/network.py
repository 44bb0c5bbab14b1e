"""A network of hosts on this machine: a network namespace for each, and a switch between them. It needs root and Linux.

The switch has two sides. All hosts are on the first one; `cut` moves some to the other, and `silence` takes away the
cable of one. Packets are then lost, and nothing is refused: each host knows the hardware addresses of all others.
"""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

PREFIX = "scale"
FIRST = 11  # the last part of the address of the first host
OURS = 1  # that of this process, which is on the first side


class Network:
    """Hosts at 10.214.n.11 and following. Those in `serving` also have 10.215.n.11 and following, never cut off."""

    def __init__(self, hosts: Sequence[str], serving: Sequence[str]) -> None:
        self.hosts, self.serving = list(hosts), list(serving)
        self.name = f"{PREFIX}{os.getpid()}"
        self.switch = f"{self.name}-switch"
        self.block = os.getpid() % 250 + 2

    def get_address(self, host: str) -> str:
        return f"10.214.{self.block}.{FIRST + self.hosts.index(host)}"

    def get_client_address(self, host: str) -> str:
        return f"10.215.{self.block}.{FIRST + self.hosts.index(host)}"

    def get_own_client_address(self) -> str:
        """Return the address of this process in the network of the clients."""
        return f"10.215.{self.block}.{OURS}"

    def get_namespace(self, host: str) -> str:
        return f"{self.name}-{host}"

    def create(self) -> None:
        for namespace in (self.switch, *map(self.get_namespace, self.hosts)):
            run("ip", "netns", "add", namespace)
        for side in ("side0", "side1", "clients"):
            run_batch(self.switch, f"link add {side} type bridge", f"link set {side} up")
        for number, host in enumerate(self.hosts, FIRST):
            self.connect(host, "eth0", "side0", self.get_address(host), number)
            if host in self.serving:
                self.connect(host, "eth1", "clients", self.get_client_address(host), number)
            run_batch(self.get_namespace(host), "link set lo up")
        self.connect("", f"{self.name}a", "side0", f"10.214.{self.block}.{OURS}", OURS)
        self.connect("", f"{self.name}b", "clients", self.get_own_client_address(), OURS)
        addresses = {
            f"10.214.{self.block}.{number}": number for number in (OURS, *range(FIRST, FIRST + len(self.hosts)))
        }
        for host in self.hosts:
            known = [
                f"neigh replace {address} lladdr {build_hardware_address(number)} dev eth0 nud permanent"
                for address, number in addresses.items()
                if address != self.get_address(host)
            ]
            run_batch(self.get_namespace(host), *known)

    def connect(self, host: str, interface: str, side: str, address: str, number: int) -> None:
        """Plug a cable into a host, or into this process's network (""), and into a side of the switch."""
        port = f"{host or 'outside'}-{interface[-4:]}"[-15:]
        hardware = build_hardware_address(number)
        place = f"netns {self.get_namespace(host)}" if host else f"netns {os.getpid()}"
        run_batch(
            self.switch,
            f"link add {port} type veth peer name {interface} address {hardware} {place}",
            f"link set {port} master {side}",
            f"link set {port} up",
        )
        run_batch(
            self.get_namespace(host) if host else None,
            f"address add {address}/24 dev {interface}",
            f"link set {interface} up",
        )

    def enter(self, host: str) -> list[str]:
        """Return the beginning of a command that runs a program on a host."""
        return ["ip", "netns", "exec", self.get_namespace(host)]

    def silence(self, host: str) -> None:
        run_batch(self.switch, f"link set {host}-eth0 nomaster")

    def cut(self, hosts: Sequence[str]) -> None:
        run_batch(self.switch, *[f"link set {host}-eth0 master side1" for host in hosts])

    def join(self) -> None:
        """Connect all hosts again."""
        run_batch(self.switch, *[f"link set {host}-eth0 master side0" for host in self.hosts])

    def list_processes(self, host: str) -> list[int]:
        done = subprocess.run(
            ["ip", "netns", "pids", self.get_namespace(host)],  # noqa: S607
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        return [int(line) for line in done.stdout.split()]

    def kill(self, host: str) -> None:
        """Kill all processes of a host at once, also those that they start meanwhile."""
        while processes := self.list_processes(host):
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)

    def delete(self) -> None:
        """Kill the processes of all hosts, and remove the network."""
        for host in self.hosts:
            self.kill(host)
        for namespace in (self.switch, *map(self.get_namespace, self.hosts)):
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)  # noqa: S607


def build_hardware_address(number: int) -> str:
    return f"02:00:00:00:00:{number:02x}"


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def run_batch(namespace: str | None, *lines: str) -> None:
    """Execute lines of `ip` in a namespace, or outside of any (None)."""
    place = ["-netns", namespace] if namespace else []
    done = subprocess.run(
        ["ip", *place, "-batch", "-"],  # noqa: S607
        input="\n".join(lines), text=True, check=False, capture_output=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{'; '.join(lines)}: {done.stderr.strip()}")
