"""Ports of 127.0.0.1 for the servers of tests."""

import socket
from random import SystemRandom

# Below the ports that the kernel gives to the client's end of connections: none takes one before its server listens.
PORTS = range(10_000, 32_000)
RANDOM = SystemRandom()  # not seeded: the processes of a test run choose different ports


def find_free_port() -> int:
    """Return a port on which nobody listens. No other call returns it, in any process, until this process ends."""
    while not reserve(port := RANDOM.choice(PORTS)):
        pass
    return port


def reserve(port: int) -> bool:
    """Reserve a port for TCP by its twin of UDP, which stays open. Return whether it was free.

    A server listens seconds later, and may be stopped and started again.
    """
    twin = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        twin.bind(("127.0.0.1", port))
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        twin.close()
        return False
    twin.detach()  # without an object that would close it
    return True
