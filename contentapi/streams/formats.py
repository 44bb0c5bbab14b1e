"""How a stream writes values: Server-Sent Events for REST and for GraphQL, and the multipart protocol of Apollo Client.

Server-Sent Events: https://html.spec.whatwg.org/multipage/server-sent-events.html. GraphQL over them:
https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md, distinct connections mode. Multipart:
https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol.
"""

from contentapi.conf.timeouts import STREAM_RETRY

BOUNDARY = b"graphql"


class EventStream:
    """Server-Sent Events of REST. The cursor is the `id`, so that a browser resumes by itself.

    A line ends with LF. JSON of PostgreSQL has line feeds between its tokens at most, never in a string.
    """

    media_type = "text/event-stream"
    content_type = f"{media_type}; charset=utf-8"
    event = end = b""

    def begin(self, cursor: str) -> bytes:
        return b"retry: %d\n%s\n" % (STREAM_RETRY, self.identify(cursor))

    def identify(self, cursor: str) -> bytes:
        return b"id: %s\n" % cursor.encode() if cursor else b""

    def frame(self, value: bytes, cursor: str = "") -> bytes:
        return b"%s%sdata: %s\n\n" % (self.identify(cursor), self.event, value.translate(None, b"\r\n"))

    def keep_alive(self, cursor: str) -> bytes:
        """Return a comment. With an `id`, a browser resumes after the events that its filter has left out."""
        return b":\n%s\n" % self.identify(cursor)


class GraphQLEventStream(EventStream):
    """The events `next` and `complete` of graphql-sse. Other clients look at the line `data` alone."""

    event = b"event: next\n"
    end = b"event: complete\ndata:\n\n"


class Multipart(EventStream):
    """Parts of JSON. The delimiter follows each part at once, because clients process a part when they have read it."""

    media_type = "multipart/mixed"
    content_type = f"{media_type}; boundary={BOUNDARY.decode()}; subscriptionSpec=1.0"
    end = b"--\r\n"

    def begin(self, cursor: str) -> bytes:  # noqa: ARG002
        return b"--%s" % BOUNDARY

    def frame(self, value: bytes, cursor: str = "") -> bytes:  # noqa: ARG002
        return self.build_part(b'{"payload":%s}' % value)

    def keep_alive(self, cursor: str) -> bytes:  # noqa: ARG002
        return self.build_part(b"{}")

    def build_part(self, content: bytes) -> bytes:
        return b"\r\ncontent-type: application/json\r\n\r\n%s\r\n--%s" % (content, BOUNDARY)


FEED = EventStream()
GRAPHQL_FORMATS = (GraphQLEventStream(), Multipart())
