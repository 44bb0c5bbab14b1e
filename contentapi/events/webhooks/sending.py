"""Send a request to a receiver by libcurl, and read the beginning of its response.

An attempt takes 15 seconds at most and keeps 4 KiB of the body, whatever the response claims about its length. No
redirect is followed, and nothing of the environment is used: no proxy, and no file with passwords. Each connection goes
to an address that `addresses` has resolved and allows: to libcurl, all hosts are `CHECKED`, which has no others.
"""

import os
import re
import ssl
from collections.abc import Mapping
from queue import Empty, LifoQueue
from time import monotonic
from typing import NamedTuple

import pycurl

from contentapi.conf.timeouts import WEBHOOK_CONNECT_LIMIT, WEBHOOK_KEEP_ALIVE, WEBHOOK_LIMIT
from contentapi.events.webhooks.addresses import AddressRefused, Target, resolve

MAX_KEPT = 4 * 1024  # bytes of the body
STATUS = re.compile(r"HTTP/\S+ (101|[2-9]\d\d)\s")  # the others only announce a response (RFC 9110, section 15.2)
CHECKED = "checked.invalid"
HEADERS = {"Content-Type": "application/json", "User-Agent": "content-api-webhooks/1", "Accept": "", "Expect": ""}
OPTIONS = {
    pycurl.NOSIGNAL: 1,
    pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
    pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
    pycurl.FOLLOWLOCATION: 0,
    pycurl.PROXY: "",
    pycurl.NOPROXY: "*",
    pycurl.NETRC: pycurl.NETRC_IGNORED,
    pycurl.PATH_AS_IS: 1,
    pycurl.CONNECT_TO: [f"::{CHECKED}:"],
    pycurl.MAXCONNECTS: 1,
    pycurl.MAXAGE_CONN: int(WEBHOOK_KEEP_ALIVE),
    pycurl.POST: 1,
}
TLS_ERRORS = {pycurl.E_PEER_FAILED_VERIFICATION} | {
    code for name, code in vars(pycurl).items() if name.startswith("E_SSL_")
}
CONNECTION_ERRORS = (pycurl.E_COULDNT_CONNECT, pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR, pycurl.E_GOT_NOTHING)
UNUSED: LifoQueue[pycurl.Curl] = LifoQueue()  # handles, each with its last connection


class ReceivedResponse(NamedTuple):
    """The result of an attempt. `status` is None without a response; `error` then says why."""

    status: int | None = None
    error: str = ""
    body: bytes = b""
    retry_after: str = ""


class Exchange:
    """The callbacks that read a response."""

    def __init__(self) -> None:
        self.announced: int | None = None  # by a status line whose headers have not ended
        self.status: int | None = None
        self.retry_after = ""
        self.body = b""

    def read_header(self, line: bytes) -> None:
        text = line.decode("latin-1")
        name, _, value = text.partition(":")
        if name.startswith("HTTP/"):
            found = STATUS.match(text)
            self.announced = int(found[1]) if found else None
        elif name.lower() == "retry-after":
            self.retry_after = value.strip()
        elif not text.strip():
            self.status = self.announced

    def read_body(self, part: bytes) -> int:
        """Keep the beginning. The connection of a longer body is closed."""
        self.body += part[: MAX_KEPT + 1 - len(self.body)]
        return len(part) if len(self.body) <= MAX_KEPT else -1


def create_handle() -> pycurl.Curl:
    handle = pycurl.Curl()
    for option, value in OPTIONS.items():
        handle.setopt(option, value)
    paths = ssl.get_default_verify_paths()  # those of Python: the wheel of pycurl brings no certificates
    for option, path in ((pycurl.CAINFO, paths.cafile), (pycurl.CAPATH, paths.capath)):
        if path is not None:
            handle.setopt(option, path)
    return handle


def send(target: Target, body: bytes, headers: Mapping[str, str]) -> ReceivedResponse:
    """Send a request. libcurl replaces a connection that the receiver has closed."""
    begin = monotonic()
    try:
        addresses = [f"[{each}]" if ":" in each else each for each in resolve(target, WEBHOOK_CONNECT_LIMIT)]
    except AddressRefused as refused:
        return ReceivedResponse(error=str(refused))
    spent = monotonic() - begin
    try:
        handle = UNUSED.get_nowait()
    except Empty:
        handle = create_handle()
    exchange = Exchange()
    for option, value in {
        pycurl.URL: target.url,
        pycurl.RESOLVE: [f"{CHECKED}:{target.port}:{','.join(addresses)}"],
        pycurl.CONNECTTIMEOUT_MS: max(1, int((WEBHOOK_CONNECT_LIMIT - spent) * 1000)),  # 0 would be the default
        pycurl.TIMEOUT_MS: max(1, int((WEBHOOK_LIMIT - spent) * 1000)),
        pycurl.HTTPHEADER: [f"{name}: {value}" for name, value in {**HEADERS, **headers}.items()],
        pycurl.POSTFIELDS: body,
        pycurl.HEADERFUNCTION: exchange.read_header,
        pycurl.WRITEFUNCTION: exchange.read_body,
    }.items():
        handle.setopt(option, value)
    error = perform(handle)
    handle.setopt(pycurl.POSTFIELDS, b"")  # an unused handle keeps no body
    UNUSED.put(handle)
    if exchange.status is not None:  # it has answered: what the response lacks does not matter
        return ReceivedResponse(exchange.status, "", exchange.body[:MAX_KEPT], exchange.retry_after)
    return ReceivedResponse(error=error or "The response is not valid HTTP.")


def perform(handle: pycurl.Curl) -> str:
    """Send the request. Return the error for the maker of the webhook, if there is one."""
    try:
        handle.perform()
    except pycurl.error as error:
        code, text = error.args
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return "The receiver did not answer in time."
        if code in TLS_ERRORS:
            return f"TLS failed: {text.removeprefix('SSL certificate problem: ')}"
        if code in CONNECTION_ERRORS:
            number = handle.getinfo(pycurl.OS_ERRNO)
            return f"The connection failed: {os.strerror(number) if number else text}"
        return f"The response is not valid HTTP: {text}"
    return ""
