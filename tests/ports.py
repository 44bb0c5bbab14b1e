"""Ports of 127.0.0.1 for the servers of tests."""

import socket
from random import SystemRandom

# Below the ports that the kernel gives to the client's end of connections: none takes one before its server listens.
PORTS = range(10_000, 32_000)
RANDOM = SystemRandom()  # not seeded: the processes of a test run choose different ports


def find_free_port() -> int:
    while True:
        port = RANDOM.choice(PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
