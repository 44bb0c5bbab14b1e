"""Build the entries of `errors`, and find the HTTP status of a response with errors."""

from collections.abc import Iterable
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError

from contentapi.conf import conf
from contentapi.core.errors import ApiError, Malformed
from contentapi.http.request_log import classify_and_record
from contentapi.monitoring.records import current_record

LONGEST_MESSAGE = 500  # graphql-core repeats values of the request, which may be a megabyte
WORST_FIRST = (500, 503, 429, 401, 403, 404, 409, 410, 413, 415, 422, 400)


class ParseFailed(Malformed):
    code = "GRAPHQL_PARSE_FAILED"


class ValidationFailed(Malformed):
    code = "GRAPHQL_VALIDATION_FAILED"


def build_error_entries(errors: Iterable[GraphQLError]) -> tuple[list[dict[str, Any]], ApiError]:
    """Return the entries of the errors of a response, and the worst of them, which has the status of the response."""
    kinds: list[ApiError] = []
    entries = []
    for error in errors:
        kinds.append(classify_and_record(find_cause(error)))
        place = {key: value for key, value in error.formatted.items() if key in ("locations", "path") and value}
        entries.append(build_error_entry(kinds[-1]) | place)
    return entries, min(kinds, key=lambda kind: WORST_FIRST.index(kind.status))


def build_error_entry(kind: ApiError) -> dict[str, Any]:
    """Return one entry of `errors`, without its place in the document."""
    extensions: dict[str, Any] = {"code": kind.code, "status": kind.status, "requestId": current_record.get().id}
    if kind.fields:
        extensions["fields"] = kind.fields
    message = kind.message
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE - 1]}…"
    return {"message": message, "extensions": extensions}


def find_cause(error: GraphQLError) -> BaseException:
    """Return the cause of an error of graphql-core, or an entry of the error table if it is an error of its own."""
    if isinstance(error, GraphQLSyntaxError):
        return ParseFailed(error.message)
    cause = error.original_error
    # Errors of graphql-core itself: a variable or an argument of the wrong type. An error that has a path but no node
    # is about the value of a resolver, which is a server error.
    if cause is None or (isinstance(cause, GraphQLError) and (error.path is None or cause.nodes)):
        return Malformed(error.message)
    return cause


def is_schema_hidden() -> bool:
    """Return whether no document may read the schema, and no error may suggest a name of it."""
    return bool(conf.environment.contentapi_introspection == "off")
