"""Requests by what is special about them: after those of `KEPT` a connection goes on."""

from tests.contentapi.gunicorn_server import request

CHUNKS = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
JSON = "Content-Type: application/json"
KEPT = {
    "a body": request(body=b"{}"),
    "no body, and its length": request(),
    "a GET with a length": request("GET /echo?a=1&b=%20 HTTP/1.1"),
    "a GET without a length": request("GET /echo HTTP/1.1", length=""),
    "many headers": request("PUT /echo HTTP/1.1", JSON, "Authorization: Bearer x", "Accept: a", "Accept: b", body=b"1"),
    "a length that others follow": request("PATCH /echo HTTP/1.1", "content-length: 3", JSON, body=b"abc", length=""),
    "a length with zeros in front": request(body=b"abc", length="003"),
    "a length and spaces": request(body=b"abc", length="  3 "),
    "an escaped path": request("DELETE /echo/%C3%A9/..//x?%00 HTTP/1.1", "Cookie: é", body=b"\xff\x00"),
    "a whole address": request("POST http://other.test:81/echo HTTP/1.1", body=b"x"),
    "an empty line in front": b"\r\n" + request(body=b"x"),
    "a forwarded scheme": request("POST /echo HTTP/1.1", "X-Forwarded-Proto: https", "X_Dropped: x", body=b"x"),
    "chunks": request("POST /echo HTTP/1.1", "Transfer-Encoding: chunked", length="") + CHUNKS,
    "an expectation": request("POST /echo HTTP/1.1", "Expect: 100-continue", body=b"{}"),
    "HEAD": request("HEAD /echo HTTP/1.1"),
    "HEAD with a body": request("HEAD /echo HTTP/1.1", body=b"x"),
    "OPTIONS": request("OPTIONS * HTTP/1.1", body=b"x"),
    "HTTP/1.0 that stays": request("POST /echo HTTP/1.0", "Connection: keep-alive", body=b"{}"),
    "204": request("POST /echo?status=204+No+Content HTTP/1.1", body=b"{}"),
    "304": request("POST /echo?status=304+Not+Modified HTTP/1.1", body=b"{}"),
    "a status of its own": request("POST /echo?status=299+Fine%2C+thanks HTTP/1.1", body=b"{}"),
    "an answer in chunks": request("POST /parts HTTP/1.1", body=b"{}"),
    "a body that nobody reads": request("POST /unread HTTP/1.1", body=b"x" * 999),
    "a large answer": request("POST /large?bytes=1000000 HTTP/1.1"),
    "a large body": request("POST /length HTTP/1.1", body=b"x" * 1_000_000),
    "about as large a body as is read at once": request("POST /length HTTP/1.1", body=b"x" * 65_460),
    "a body that is a request": request(body=request("POST /header HTTP/1.1", body=b"smuggled")),
    "an answer that was written": request("POST /write HTTP/1.1", body=b"x"),
    "a header that was told": request("POST /header HTTP/1.1", body=b"a \xe9\tb "),
    "a long head": request("POST /echo HTTP/1.1", *[f"X-{number}: {'x' * 5000}" for number in range(3)], body=b"x"),
}
CLOSED = {
    "Connection: close": request("POST /echo HTTP/1.1", "Connection: close", body=b"{}"),
    "HTTP/1.0": request("POST /echo HTTP/1.0", body=b"{}"),
    "no HTTP": b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n1",
    "two lengths": request("POST /echo HTTP/1.1", "Content-Length: 1", body=b"x"),
    "two lengths that differ": request("POST /echo HTTP/1.1", "Content-Length: 10", body=b"x"),
    "a length and chunks": request("POST /echo HTTP/1.1", "Transfer-Encoding: chunked", length=len(CHUNKS)) + CHUNKS,
    "an unknown coding": request("POST /echo HTTP/1.1", "Transfer-Encoding: x", length="") + CHUNKS,
    "a negative length": request(body=b"x", length=-1),
    "a signed length": request(body=b"x", length="+1"),
    "a folded header": request("POST /echo HTTP/1.1", "X: a\r\n b", body=b"x"),
    "a space before the colon": request("POST /echo HTTP/1.1", "X : a", body=b"x"),
    "a bare line feed": request("POST /echo HTTP/1.1", "X: a\nContent-Length: 1", body=b"x"),
    "two hosts": request("POST /echo HTTP/1.1", "Host: other.test", body=b"x"),
    "another expectation": request("POST /echo HTTP/1.1", "Expect: miracles", body=b"x"),
    "HTTP/2.0": request("POST /echo HTTP/2.0", body=b"x"),
    "CONNECT": request("CONNECT api.test:80 HTTP/1.1", body=b"x"),
    "a header of two lines": request("POST /header HTTP/1.1", body=b"a\r\nSet-Cookie: b"),
    "a header with a line feed": request("POST /header HTTP/1.1", body=b"a\nb"),
    "an error": request("POST /raise HTTP/1.1", body=b"ValueError"),
    "a system's error": request("POST /raise HTTP/1.1", body=b"OSError"),
    "an error that sounds like waiting": request("POST /raise HTTP/1.1", body=b"BlockingIOError"),
    "an answer that breaks off": request("POST /unread?break HTTP/1.1", body=b"x"),
}
# With the heads of some that close, to be known before those come.
HARMLESS = [request(f"POST {path} HTTP/1.1") for path in ("/header", "/raise", "/unread?break", "/echo")]
