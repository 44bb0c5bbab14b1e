"""Forty shapes of headers with which a client may try to choose its address, and a function that sends one."""

from collections.abc import Sequence
from http.client import HTTPConnection
from itertools import product

Headers = Sequence[tuple[str, str]]

FORGED = "20.0.0.1"
# Spellings of X-Forwarded-For that are one variable of WSGI. Which of two wins in granian depends on the other headers.
SPELLINGS = ("X-Forwarded_For", "X_Forwarded-For", "X_Forwarded_For", "x-forwarded_for", "X_FORWARDED_FOR")
OTHERS: tuple[Headers, ...] = ((), (("A", "1"),), (("X-Request-Id", "r"), ("Cookie", "a=b"), ("B", "2"), ("C", "3")))
VALUES = (
    f"for={FORGED}",
    f"for={FORGED}, for={FORGED}",
    'for="[2001:db8::1]:80"',
    f'for="{FORGED}',
    f'for={FORGED};by="',
    f"for={FORGED};by=\\",
    f"for={FORGED},",
    f"for={FORGED}:80",
    "for=_hidden",
    "",
    f"for={FORGED};secret={'x' * 4000}",
)
SHAPES: list[Headers] = [
    *([(name, FORGED), *others] for name, others in product(SPELLINGS, OTHERS)),
    *([("Forwarded", value)] for value in VALUES),
    [("Forwarded", f"for={FORGED}"), ("forwarded", f"for={FORGED}")],
    [("FORWARDED", f"for={FORGED}"), ("Connection", "Forwarded, X-Forwarded-For")],
    [("X-Forwarded-For", FORGED)],
    [("X-Forwarded-For", FORGED), ("X-Forwarded-For", f"{FORGED}, {FORGED}")],
    [("X-Forwarded-For", FORGED), ("X_Forwarded_For", FORGED), ("X-Forwarded_For", FORGED)],
    [("Connection", "close, Forwarded"), ("X-Forwarded-For", f"{FORGED},")],
    [("X.Forwarded.For", FORGED), ("HTTP_X_FORWARDED_FOR", FORGED), ("HTTP-FORWARDED", f"for={FORGED}")],
    [("X-Real-IP", FORGED), ("X_Real_IP", FORGED), ("True-Client-IP", FORGED), ("CF-Connecting-IP", FORGED)],
    [("Client-IP", FORGED), ("X-Client-IP", FORGED), ("X-Cluster-Client-IP", FORGED), ("Via", f"1.1 {FORGED}")],
    [("Remote-Addr", FORGED), ("REMOTE_ADDR", FORGED)],
    [("X_Forwarded_Host", FORGED), ("X_Forwarded_Proto", "https"), ("X_API_Key", "none")],
    [(f"X_Forwarded_For{end}", FORGED) for end in ("", "_", "-")],
    [("Forwarded", f"for={FORGED}"), *[(name, FORGED) for name in SPELLINGS]],
    [("X-Forwarded", f"for={FORGED}"), ("Forwarded-For", FORGED), ("Forwarded_For", FORGED)],
]


def send_from(source: str, port: int, headers: Headers = ()) -> tuple[int, int]:
    """Read posts from an address of this machine. Return the status and the remaining requests of the rate limit."""
    connection = HTTPConnection("::1" if ":" in source else "127.0.0.1", port, timeout=60, source_address=(source, 0))
    connection.putrequest("GET", "/posts?limit=1", skip_host=True)
    for name, value in (("Host", f"127.0.0.1:{port}"), *headers):
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, int(response.headers["RateLimit"].split("r=")[1].split(";")[0])
