"""The queue of a listening socket: connections that the kernel has completed and no worker has accepted.

When the last process closes a listening socket, the kernel resets the connections in its queue. Their clients may have
sent a request. A server that ends therefore first refuses new connections, then empties the queue, then closes the
socket. This needs Linux. On other systems the functions do nothing, and a few connections may be reset.
"""

import ctypes
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable

from contentapi.conf.timeouts import HANDSHAKE_LIMIT, QUEUE_INTERVAL

# From <linux/filter.h> and <linux/tcp.h>.
SO_ATTACH_FILTER = 26
FLAGS_OFFSET, SYN = 13, 0x02  # of a TCP header
LOAD_BYTE, JUMP_IF_SET, RETURN = 0x30, 0x45, 0x06
DROP, PASS = 0, 0xFFFFFFFF
TCP_INFO = struct.Struct("8B24I")
ACCEPT_QUEUE = 12  # the index of tcpi_unacked, which is the length of the queue for a listening socket


def refuse_new_connections(listener: socket.socket) -> bool:
    """Let the kernel drop the first packet of each new connection. Return whether this is possible.

    Connections in the queue, and handshakes that have begun, are not affected. A new client tries again after a second.
    The filter belongs to the socket, in all processes.
    """
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return False
    program = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (LOAD_BYTE, 0, 0, FLAGS_OFFSET),
            (JUMP_IF_SET, 0, 1, SYN),  # skip no instruction, or one
            (RETURN, 0, 0, DROP),
            (RETURN, 0, 0, PASS),
        )
    )
    buffer = ctypes.create_string_buffer(program, len(program))
    try:
        listener.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(program) // 8, ctypes.addressof(buffer))
        )
    except OSError:  # some sandboxes do not permit filters
        return False
    return True


def count_queued(listener: socket.socket) -> int:
    """Return the number of connections that no process has accepted, or 0 if the system does not state it."""
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return 0
    information = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size)
    return int(TCP_INFO.unpack(information)[ACCEPT_QUEUE])


def empty_queues(listeners: Iterable[socket.socket], timeout: float, must_stop: Callable[[], bool]) -> None:
    """Refuse new connections and wait until other processes or threads have accepted those in the queues.

    Return after `timeout` seconds at the latest, or when `must_stop` returns True.
    """
    listeners = [*listeners]
    if not all(refuse_new_connections(each) for each in listeners):
        return
    start = time.monotonic()
    while (passed := time.monotonic() - start) < timeout and not must_stop():
        if passed >= HANDSHAKE_LIMIT and not any(count_queued(each) for each in listeners):
            return
        time.sleep(QUEUE_INTERVAL)


def stop_accepting(listener: socket.socket) -> None:
    """Replace the listening socket of this process by one to which nobody connects, under the same descriptor.

    Other processes keep theirs. The code that accepts connections, in whatever language, does not notice.
    """
    with socket.socket(listener.family, socket.SOCK_STREAM) as dummy:
        dummy.bind(("::1" if listener.family == socket.AF_INET6 else "127.0.0.1", 0))
        dummy.listen(1)
        dummy.setblocking(False)  # noqa: FBT003
        refuse_new_connections(dummy)
        os.dup2(dummy.fileno(), listener.fileno())
