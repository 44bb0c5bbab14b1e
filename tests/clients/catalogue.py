"""The list of clients."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Runtime(Enum):
    """What runs a client. The value is the folder of its scripts."""

    NODE = "javascript"
    PYTHON = "python"


class Client(NamedTuple):
    """A client.

    `package` is the package whose version the table shows, or a program that prints its version. `manifest` is the file
    that `npm run manifest` writes, for the server that executes only trusted documents. `needs_java` is whether the
    client runs a Java program.
    """

    name: str
    runtime: Runtime
    package: str
    manifest: str = ""
    needs_java: bool = False

    @property
    def sources(self) -> Path:
        return HERE / self.runtime.value / self.name


CLIENTS = (
    Client("fetch", Runtime.NODE, "node"),
    Client("apollo-client", Runtime.NODE, "@apollo/client", manifest="persisted-query-manifest.json"),
    Client("apollo-client-3", Runtime.NODE, "@apollo/client"),
    Client("urql", Runtime.NODE, "@urql/core"),
    Client("relay", Runtime.NODE, "relay-runtime", manifest="persisted_queries.json"),
    Client("graphql-sse", Runtime.NODE, "graphql-sse"),
    Client("graphql-request", Runtime.NODE, "graphql-request"),
    Client("graphql-codegen", Runtime.NODE, "@graphql-codegen/cli", manifest="generated/persisted-documents.json"),
    Client("gql.tada", Runtime.NODE, "gql.tada"),
    Client("aws-sdk", Runtime.NODE, "@aws-sdk/client-s3"),
    Client("gql", Runtime.PYTHON, "gql"),
    Client("ariadne-codegen", Runtime.PYTHON, "ariadne-codegen"),
    Client("sgqlc", Runtime.PYTHON, "sgqlc"),
    Client("curl", Runtime.PYTHON, "curl"),
    Client("httpx", Runtime.PYTHON, "httpx"),
    Client("openapi-typescript", Runtime.NODE, "openapi-fetch"),
    Client("hey-api", Runtime.NODE, "@hey-api/openapi-ts"),
    Client("openapi-python-client", Runtime.PYTHON, "openapi-python-client"),
    Client("openapi-generator", Runtime.PYTHON, "openapi-generator-cli", needs_java=True),
    Client("authlib", Runtime.PYTHON, "authlib"),
    Client("oauth4webapi", Runtime.NODE, "oauth4webapi"),
    Client("openid-client", Runtime.NODE, "openid-client"),
    Client("jose", Runtime.NODE, "jose"),
    Client("pyjwt", Runtime.PYTHON, "pyjwt"),
    Client("standardwebhooks", Runtime.NODE, "standardwebhooks"),
    Client("schemathesis", Runtime.PYTHON, "schemathesis"),
    Client("graphql-eslint", Runtime.NODE, "@graphql-eslint/eslint-plugin"),
    Client("graphql-inspector", Runtime.NODE, "@graphql-inspector/core"),
    Client("spectral", Runtime.NODE, "@stoplight/spectral-cli"),
    Client("redocly", Runtime.NODE, "@redocly/cli"),
    Client("prism", Runtime.NODE, "@stoplight/prism-cli"),
)
