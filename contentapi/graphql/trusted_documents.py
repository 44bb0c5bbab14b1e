"""Load the trusted documents of the operator: the only ones that a server executes with `CONTENTAPI_DOCUMENTS=trusted`.

They come from `schema/documents/` and from the manifest that CONTENTAPI_DOCUMENTS_MANIFEST names. A file `NAME.graphql`
is a document with the id NAME. A manifest is a JSON file, as these tools write it:

    {"<id>": "<text>", …}                                                graphql-codegen, Relay
    {"format": "apollo-persisted-query-manifest", "version": 1,
     "operations": [{"id": "…", "name": "…", "type": "…", "body": "<text>"}, …]}      Apollo

Each document is also found by the SHA-256 of its text.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec
from graphql import GraphQLError, GraphQLSchema

from contentapi.conf import conf
from contentapi.graphql.documents import DocumentRejected, get_document
from contentapi.http.body import DuplicateKey, loads_without_duplicates

APOLLO_FORMAT = "apollo-persisted-query-manifest"
MAX_ID = 200  # characters
PING = "{ __typename }"  # always trusted: clients and the server itself use it to see that the endpoint responds


class ApolloOperation(msgspec.Struct):
    id: str
    body: str


class ApolloManifest(msgspec.Struct):
    format: Literal["apollo-persisted-query-manifest"]
    version: Literal[1]
    operations: list[ApolloOperation]


class ManifestError(Exception):
    """A trusted document or a manifest cannot be used. The message names the file."""


class TrustedDocuments:
    """The trusted documents. `texts` has their texts by id, `ids` their ids by text.

    With `are_required`, the server executes no other document.
    """

    def __init__(self, texts: Mapping[str, str], *, are_required: bool = False) -> None:
        self.texts = {**{sha256(text.encode()).hexdigest(): text for text in texts.values()}, **texts}
        self.ids = {text: name for name, text in texts.items()} | {PING: ""}
        self.are_required = are_required


def load_trusted_documents(schema: GraphQLSchema, folder: Path) -> TrustedDocuments:
    """Return the trusted documents of the settings and of this folder. Raises `ManifestError`."""
    environment = conf.environment
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.graphql")):
        add_document(texts, path, path.stem, read_text(path))
    if environment.contentapi_documents_manifest:
        path = Path(environment.contentapi_documents_manifest)
        for name, text in read_manifest(path):
            add_document(texts, path, name, text)
    are_required = environment.contentapi_documents == "trusted"
    if are_required and not texts:
        raise ManifestError(
            f"CONTENTAPI_DOCUMENTS is trusted, but there is no document in {folder} and CONTENTAPI_DOCUMENTS_MANIFEST "
            "is not set."
        )
    require_valid_documents(schema, texts)
    return TrustedDocuments(texts, are_required=are_required)


def add_document(texts: dict[str, str], path: Path, name: str, text: str) -> None:
    if not 1 <= len(name) <= MAX_ID:
        raise ManifestError(f"{path}: an id must have 1 to {MAX_ID} characters.")
    if texts.setdefault(name, text) != text:
        raise ManifestError(f"{path}: two documents have the id {name}.")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ManifestError(f"{path} cannot be read: {reason}.") from None


def read_manifest(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each document in a manifest. Raises `ManifestError`."""
    try:
        text = read_text(path)
        value: Any = msgspec.json.decode(text)
        loads_without_duplicates(text)
        if isinstance(value, dict) and value.get("format") == APOLLO_FORMAT:
            for operation in msgspec.convert(value, ApolloManifest).operations:
                yield operation.id, operation.body
        else:
            yield from msgspec.convert(value, dict[str, str]).items()
    except (msgspec.DecodeError, DuplicateKey) as error:
        raise ManifestError(f"{path} is not a manifest of persisted documents: {error}.") from None


def require_valid_documents(schema: GraphQLSchema, texts: Mapping[str, str]) -> None:
    """Raise `ManifestError` if a document is not valid for the schema, or exceeds a limit."""
    for name, text in texts.items():
        try:
            get_document(schema, text, None)
        except DocumentRejected as rejection:
            raise ManifestError(f"The trusted document {name} is invalid: {describe(rejection.errors[0])}") from None


def describe(error: GraphQLError) -> str:
    line = f" (line {error.locations[0].line})" if error.locations else ""
    return f"{error.message}{line}"
