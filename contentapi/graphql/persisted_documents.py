"""Documents that clients name instead of sending them: automatic persisted queries and trusted documents.

An automatic persisted query is named by the SHA-256 of its text: `extensions.persistedQuery {version: 1, sha256Hash}`.
A client first sends the hash alone. If the server does not know it, the client sends the text with the hash, and the
server keeps a valid document. Apollo Client and urql do this by themselves.

Trusted documents are those of a manifest, which the build of a client writes (`contentapi.graphql.trusted_documents`).
See docs/decisions/0046-persisted-documents.md.
"""

import logging
import re
from contextlib import suppress
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from contentapi.conf import conf
from contentapi.conf.timeouts import DOCUMENT_LIFETIME
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import Malformed
from contentapi.core.redis import GuardedRedis, RedisUnavailable
from contentapi.graphql.requests import GraphQLRequest
from contentapi.graphql.trusted_documents import TrustedDocuments

LOG = logging.getLogger("contentapi.graphql")

SHA256 = re.compile(r"[0-9a-f]{64}")
MAX_ID = 200  # characters of an id in an error message
UNTRUSTED = "This server executes trusted documents only, and this document is not one of them."
SLOTS = 4096  # documents in Redis at most
REDIS_PREFIX = "contentapi:persisted:"


class PersistedQueryNotFound(Malformed):
    """The hash is unknown. urql compares the message, Apollo Client the message or the code."""

    code = "PERSISTED_QUERY_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("PersistedQueryNotFound")


class DocumentNotFound(Malformed):
    code = "DOCUMENT_NOT_FOUND"


class PersistedDocuments:
    """Finds the text of a request's document, and keeps the texts of automatic persisted queries. Thread-safe."""

    def __init__(self, trusted: TrustedDocuments) -> None:
        self.trusted = trusted
        self.texts: BoundedCache[str] = BoundedCache(
            conf.environment.contentapi_persisted_cache, weigh=lambda text: 256 + len(text), name="persisted documents"
        )
        url = conf.environment.redis_url
        self.shared = SharedTexts(url) if url else None

    def find_text(self, request: GraphQLRequest) -> tuple[str, str | None]:
        """Return the document of a request, and the hash that the request names it by, if it does.

        Raises `Malformed`, `PersistedQueryNotFound` or `DocumentNotFound`.
        """
        text, extensions = request.query, request.extensions
        persisted = extensions.get("persistedQuery") if extensions else None
        digest = None if persisted is None else parse_persisted_query(persisted)
        if isinstance(request.document_id, str):
            if isinstance(text, str):
                raise Malformed("Send query or documentId, not both.")
            text = self.find_trusted(request.document_id)
        if isinstance(text, str):
            if digest is not None:
                self.require_matching(digest, text)
            if self.trusted.are_required and text not in self.trusted.ids:
                raise DocumentNotFound(UNTRUSTED)
            return text, digest
        if digest is None:
            raise Malformed("The request has no query. Send query, documentId or extensions.persistedQuery.")
        found = self.trusted.texts.get(digest) or self.find_persisted(digest)
        if found is None:
            raise PersistedQueryNotFound
        return found, digest

    def remember(self, digest: str, text: str) -> None:
        """Keep the text of a valid document by its hash, unless it is kept already."""
        if text not in self.trusted.ids and self.texts.get(digest) is None:
            self.texts.put(digest, text)
            if self.shared is not None:
                self.shared.put(digest, text)

    def find_persisted(self, digest: str) -> str | None:
        """Return the text of an automatic persisted query, from this process or from Redis."""
        if self.trusted.are_required or not SHA256.fullmatch(digest):
            return None
        text = self.texts.get(digest)
        if text is None and self.shared is not None:
            text = self.shared.get(digest)
            if text is not None:
                self.texts.put(digest, text)
        return text

    def find_trusted(self, document_id: str) -> str:
        text = self.trusted.texts.get(document_id)
        if text is None:
            raise DocumentNotFound(f"There is no trusted document with the id {document_id[:MAX_ID]}.")
        return text

    def require_matching(self, digest: str, text: str) -> None:
        """Raise `Malformed` unless the hash is that of the text, or the id of this trusted document."""
        if digest != sha256(text.encode()).hexdigest() and self.trusted.texts.get(digest) != text:
            raise Malformed("extensions.persistedQuery.sha256Hash is not the SHA-256 of the query.")


class PersistedQuery(msgspec.Struct, rename="camel"):
    version: Literal[1]
    sha256_hash: Annotated[str, Meta(min_length=1)]


def parse_persisted_query(value: Any) -> str:
    """Return the hash of the member `persistedQuery`. Raises `Malformed` for another form or version."""
    try:
        return msgspec.convert(value, PersistedQuery).sha256_hash
    except msgspec.ValidationError:
        raise Malformed("extensions.persistedQuery must be {version: 1, sha256Hash: String}.") from None


class SharedTexts:
    """Keeps texts in Redis for all workers, in a fixed number of slots, so that clients cannot fill it.

    The hash decides the slot, and a text replaces the one before. While Redis is down, nothing is kept: clients send
    the text again.
    """

    def __init__(self, url: str) -> None:
        self.redis = GuardedRedis(url, LOG, "Persisted queries are kept in this process.")

    def get(self, digest: str) -> str | None:
        try:
            content = self.redis.execute("get", lambda: self.redis.client.get(get_slot(digest)))
        except RedisUnavailable:
            return None
        # The hash is computed: another program with access to Redis must not choose what a hash executes.
        if not isinstance(content, bytes) or sha256(content).hexdigest() != digest:
            return None
        return content.decode()

    def put(self, digest: str, text: str) -> None:
        with suppress(RedisUnavailable):
            self.redis.execute("set", lambda: self.redis.client.set(get_slot(digest), text.encode(), DOCUMENT_LIFETIME))


def get_slot(digest: str) -> str:
    return f"{REDIS_PREFIX}{int(digest[:8], 16) % SLOTS}"
