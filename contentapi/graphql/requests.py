"""Read a GraphQL request, from the JSON body of a POST or the query parameters of a GET, and charge its cost.

The GraphQL-over-HTTP draft defines the parameters (https://graphql.github.io/graphql-over-http/draft/, "GET").
"""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from contentapi.conf import conf
from contentapi.core.errors import Malformed, UnsupportedMediaType
from contentapi.core.text import require_storable
from contentapi.db.engine.slots import enter_expensive_lane
from contentapi.graphql.costs import COST_PER_CHARGE, EXPENSIVE_SHARE, require_cost_within_limit
from contentapi.graphql.limits import require_within_limit
from contentapi.http.body import (
    JSON,
    decode_json,
    has_no_duplicate_keys,
    has_unicode_escapes,
    is_json,
    read_request_body,
)
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.account import Account

T = TypeVar("T")

MAX_PARAMETERS = 100  # of a query string; unknown ones are ignored
MAX_BATCH = 10  # entries of the response to a batch


class GraphQLRequest(msgspec.Struct, rename="camel"):
    """The members of a request. All others are ignored. Without `query`, `document_id` or `extensions` names it."""

    query: str | msgspec.UnsetType = msgspec.UNSET
    document_id: str | msgspec.UnsetType | None = msgspec.UNSET
    variables: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET
    operation_name: str | msgspec.UnsetType | None = msgspec.UNSET
    extensions: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET


OBJECT = dict[str, Any] | None
BODY = msgspec.json.Decoder(GraphQLRequest)
MEMBER = msgspec.json.Decoder(OBJECT)
ENTRIES = msgspec.json.Decoder(list[msgspec.Raw])


class BatchRefused(Malformed):
    """The body is an array of requests. Its response is an array of `length` entries, as clients of batches expect."""

    def __init__(self, length: int) -> None:
        super().__init__("A batch of requests is not supported. Send one request as a JSON object.")
        self.length = min(max(length, 1), MAX_BATCH)


def read_body(environ: Mapping[str, Any]) -> GraphQLRequest:
    """Decode the body of a POST. Raises `UnsupportedMediaType`, `TooLarge`, `Malformed` or `LimitExceeded`."""
    if not is_json(environ.get("CONTENT_TYPE", "")):
        raise UnsupportedMediaType(f"Send the body as {JSON} in UTF-8.")
    content = read_request_body(environ)
    try:
        request = decode_known_members(content) or decode_json(content, BODY)[0]
    except Malformed:
        length = count_entries(content)
        if length is None:
            raise
        raise BatchRefused(length) from None
    require_values_within_limit(request.variables or None, content)
    return request


def decode_known_members(content: bytes) -> GraphQLRequest | None:
    """Return the request of a body that has no other members and no duplicate keys: nearly all. None for others."""
    try:
        request = BODY.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return request if has_no_duplicate_keys(content, request) else None


def count_entries(content: bytes) -> int | None:
    """Return the number of entries of a JSON array. Return None for any other body."""
    try:
        return len(ENTRIES.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_query_string(environ: Mapping[str, Any]) -> GraphQLRequest:
    """Decode the parameters of a GET: `variables` and `extensions` are JSON.

    An empty parameter counts as absent, except `query`. Raises `Malformed` or `LimitExceeded`.
    """
    parameters = parse_parameters(environ.get("QUERY_STRING", ""))
    request = GraphQLRequest(
        query=parameters.get("query", msgspec.UNSET),
        document_id=parameters.get("documentId") or None,
        operation_name=parameters.get("operationName") or None,
    )
    for name in ("variables", "extensions"):
        text = parameters.get(name, "")
        if text:
            content = text.encode()
            value, _ = decode_json(content, MEMBER, name)
            require_values_within_limit(value, content)
            setattr(request, name, value)
    return request


def parse_parameters(query_string: str) -> dict[str, str]:
    """Return the parameters of a query string. Raises `Malformed` for one that is given twice, or is not UTF-8."""
    try:
        text = query_string.encode("latin-1").decode()  # WSGI decodes the bytes of a request as Latin-1 (PEP 3333)
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except UnicodeError:
        raise Malformed("The query string must be UTF-8.") from None
    except ValueError:
        raise Malformed(f"The query string has more than {MAX_PARAMETERS} parameters.") from None
    parameters: dict[str, str] = {}
    for name, value in pairs:
        if name in parameters:
            raise Malformed(f"The query parameter {name[:50]} is given twice.")
        parameters[name] = value
    return parameters


def require_values_within_limit(variables: Mapping[str, Any] | None, content: bytes) -> None:
    """Raise `LimitExceeded` if variables have too many values, or `Malformed` for text that cannot be stored.

    `content` is the JSON that contains them.
    """
    limit = conf.environment.contentapi_max_values
    if len(content) < 2 * limit and not has_unicode_escapes(content):
        return  # so short a text cannot have more values: each takes two bytes or more
    require_within_limit("number of values in variables", require_storable(variables), "contentapi_max_values")


def charge_objects(cost: int, account: Account, *, writes: int) -> None:
    """Charge an operation, and enter the expensive lane if it is expensive. Raises `LimitExceeded`."""
    is_expensive = cost > conf.environment.contentapi_max_cost // EXPENSIVE_SHARE
    if is_expensive:
        require_cost_within_limit(cost)
    account.charge_operation(1 + cost // COST_PER_CHARGE, writes=writes)
    current_record.get().cost = cost
    if is_expensive:
        enter_expensive_lane()
