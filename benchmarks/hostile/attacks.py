"""The attacks: the behaviour of one client, and the number of clients."""

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NamedTuple

from benchmarks.hostile import documents

ESTABLISHED = 1  # the state of a TCP connection, the first byte of TCP_INFO
ADDRESSES = 200  # source addresses of the attackers: their rate limits are neither shared nor the victim's
SMALL_BUFFER, SMALL_SEGMENT = 4096, 536
PAUSE = 0.2  # seconds before a client opens its connection again
KEY = "VICTIM_KEY"  # the environment variable with the credential of an attacker that has one
FEWEST = 16  # the smallest number of clients after scaling


@dataclass
class Client:
    """One attacker, and the record that it shares with the others."""

    number: int
    port: int
    seen: Counter[str]  # counts of observations: connections and statuses of responses
    placed: asyncio.Event = field(
        default_factory=asyncio.Event
    )  # set when the client has reached the state that the attack is about
    documents: "count[int]" = field(init=False)  # the numbers of its next documents, which no other client has

    def __post_init__(self) -> None:
        self.documents = count(self.number * (10**6 + 1))  # clients begin with different documents

    async def connect(self, *, slow_reader: bool = False) -> socket.socket:
        connection = socket.socket()
        try:
            connection.settimeout(0)
            if slow_reader:  # before the handshake, which announces both
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SMALL_SEGMENT)
            connection.bind((f"127.0.1.{1 + self.number % ADDRESSES}", 0))
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        except BaseException:
            connection.close()
            raise
        self.seen["opened"] += 1
        if not slow_reader:
            self.placed.set()
        return connection

    async def send(self, connection: socket.socket, content: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(connection, content)

    async def wait_until_closed(self, connection: socket.socket) -> None:
        """Read and ignore everything until the server closes the connection."""
        while await asyncio.get_running_loop().sock_recv(connection, 65536):
            pass
        self.seen["closed by the server"] += 1


Behaviour = Callable[[Client], Awaitable[None]]


def request(
    body: bytes, *headers: str, sent: int | None = None, path: str = "/graphql", content_type: str = "application/json"
) -> bytes:
    """Return a GraphQL request, or one of another path. With `sent`, it ends after so many bytes of the body."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body[:sent]


SMALL_REQUEST = documents.encode("{ __typename }")


async def stop_in_headers(client: Client) -> None:
    with closing(await client.connect()) as connection:
        await client.send(connection, request(SMALL_REQUEST)[:60])
        await client.wait_until_closed(connection)


async def stop_in_body(client: Client) -> None:
    with closing(await client.connect()) as connection:
        await client.send(connection, request(SMALL_REQUEST, sent=5))
        await client.wait_until_closed(connection)


async def send_a_byte_per_second(client: Client) -> None:
    """Send one byte per second: half of the clients from the first byte, the others from the first byte of the body."""
    document = documents.encode("{ __typename }" + " " * 1000)
    whole = request(document)
    fast = len(whole) - len(document) if client.number % 2 else 0
    with closing(await client.connect()) as connection:
        await client.send(connection, whole[:fast])
        for place in range(fast, len(whole)):
            await client.send(connection, whole[place : place + 1])
            await asyncio.sleep(1)


async def upload_slowly(client: Client) -> None:
    """Upload an image of 5 MB with the victim's credential, 1 kB per second."""
    whole = request(bytes(5_000_000), f"X-API-Key: {os.environ.get(KEY, '')}", path="/images", content_type="image/png")
    with closing(await client.connect()) as connection:
        for place in range(0, len(whole), 1000):
            await client.send(connection, whole[place : place + 1000])
            client.seen["kB sent"] += 1
            await asyncio.sleep(1)


async def read_nothing(client: Client) -> None:
    """Request a large response and do not read it. The client is in place when its response has begun."""
    with closing(await client.connect(slow_reader=True)) as connection:
        await client.send(connection, request(documents.encode(documents.large_response())))
        while connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED:
            if not client.placed.is_set() and has_received(connection):
                client.seen["responses begun"] += 1
                client.placed.set()
            await asyncio.sleep(0.2)
        client.seen["closed by the server"] += 1


def has_received(connection: socket.socket) -> bool:
    """Return whether a response has begun, without reading it."""
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


async def stay_idle(client: Client) -> None:
    with closing(await client.connect()) as connection:
        await client.wait_until_closed(connection)


async def send_garbage(client: Client) -> None:
    with closing(await client.connect()) as connection:
        await client.send(connection, b"\x16\x03\x01 garbage\r\n\r\n")
        await asyncio.Event().wait()


async def send_close_header(client: Client) -> None:
    """Send a request with `Connection: close`, and leave the connection open."""
    with closing(await client.connect()) as connection:
        await client.send(connection, request(SMALL_REQUEST, "Connection: close"))
        await asyncio.Event().wait()


async def send_expensive_documents(client: Client, kinds: Sequence[documents.Kind] = documents.EXPENSIVE) -> None:
    with closing(await client.connect()) as connection:
        reader, writer = await asyncio.open_connection(sock=connection)
        for number in client.documents:
            writer.write(request(documents.encode(documents.make_document(kinds, number))))
            await writer.drain()
            client.seen[f"status {await read_response(reader)}"] += 1


send_largest_pages = partial(send_expensive_documents, kinds=documents.PAGES)
send_introspection = partial(send_expensive_documents, kinds=documents.INTROSPECTION)
send_long_documents = partial(send_expensive_documents, kinds=documents.LONG)


async def read_response(reader: asyncio.StreamReader) -> int:
    """Read a response to its end and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].split()[0])
    await reader.readexactly(length)
    return int(head.split()[1])


class Attack(NamedTuple):
    """An attack by a number of clients at once, or by a number of new clients each second."""

    name: str
    title: str
    clients: int
    behaviour: Behaviour
    each_second: bool = False

    def scale(self, factor: float) -> "Attack":
        if self.each_second:
            return self
        return self._replace(clients=min(self.clients, max(FEWEST, round(self.clients * factor))))


ATTACKS = {
    attack.name: attack
    for attack in (
        *(Attack(f"headers-{n}", "stop in the headers", n, stop_in_headers) for n in (16, 100, 1000)),
        *(Attack(f"body-{n}", "stop in the body", n, stop_in_body) for n in (16, 100, 1000)),
        Attack("slow-100", "send 1 byte per second", 100, send_a_byte_per_second),
        Attack("uploads-100", "upload an image at 1 kB per second", 100, upload_slowly),
        Attack("unread-200", "never read their response of 2 MB", 200, read_nothing),
        Attack("garbage", "send garbage and do not close", 8, send_garbage, each_second=True),
        Attack("close", "send `Connection: close` and do not close", 8, send_close_header, each_second=True),
        Attack("idle-2000", "stay idle", 2000, stay_idle),
        Attack("expensive-8", "loop over all expensive documents", 8, send_expensive_documents),
        Attack("pages-8", "loop over the largest pages", 8, send_largest_pages),
        Attack("introspection-8", "loop over introspection", 8, send_introspection),
        Attack("texts-8", "loop over long documents", 8, send_long_documents),
    )
}
