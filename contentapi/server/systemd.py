"""The notifications of a service to systemd, for units with `Type=notify` and `WatchdogSec`.

A message is a datagram to the socket of the variable NOTIFY_SOCKET: sd_notify(3). Without the variable nothing is sent.
"""

import logging
import os
import socket

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
