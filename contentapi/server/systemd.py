"""The notifications of a service to systemd, for units with `Type=notify` and `WatchdogSec`.

A message is a datagram to the socket of the variable NOTIFY_SOCKET: sd_notify(3). Without the variable nothing is sent.
"""

import logging
import os
import socket
import time
from http.client import HTTPConnection, HTTPException
from threading import Thread

from contentapi.conf.timeouts import SELF_PROBE_LIMIT, START_PROBE_INTERVAL

logger = logging.getLogger("contentapi.server")


def notify(message: str) -> None:
    """Send a message such as `READY=1`. A socket that cannot be reached is a warning: the service continues."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"  # an abstract socket of Linux
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as client:
            client.sendto(message.encode(), address)
    except OSError as error:
        logger.warning("Cannot notify systemd: %s", error.strerror)


def get_watchdog_interval() -> float | None:
    """Return the seconds between two messages `WATCHDOG=1`: a third of the unit's `WatchdogSec`.

    Return None without a watchdog, or if it watches another process.
    """
    period = os.environ.get("WATCHDOG_USEC", "")
    if not period.isdecimal() or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(period) / 1_000_000 / 3


def start_notifications(address: str, port: int) -> None:
    """Notify systemd from a thread: when the server at the address responds, and then for the watchdog."""
    if os.environ.get("NOTIFY_SOCKET"):
        Thread(target=notify_while_responding, args=(address, port), name="systemd", daemon=True).start()


def notify_while_responding(address: str, port: int) -> None:
    """Send `READY=1` after the first response, and `WATCHDOG=1` after each later one, for ever.

    A server whose workers all hang sends nothing, so that systemd restarts it after `WatchdogSec`.
    """
    while not is_responding(address, port):
        time.sleep(START_PROBE_INTERVAL)
    notify("READY=1")
    interval = get_watchdog_interval()
    while interval:
        time.sleep(interval)
        if is_responding(address, port):
            notify("WATCHDOG=1")


def is_responding(address: str, port: int) -> bool:
    """Return whether the server responds to a request, with any status."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(address, address)  # noqa: S104 - all addresses
    connection = HTTPConnection(host, port, timeout=SELF_PROBE_LIMIT)
    try:
        connection.request("GET", "/healthz", headers={"Connection": "close"})
        connection.getresponse()
    except (OSError, HTTPException):
        return False
    else:
        return True
    finally:
        connection.close()
