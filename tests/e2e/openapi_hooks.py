"""Hooks of schemathesis, for rules that a document cannot express. It generates each part of a request alone."""

import os
from typing import Any

import schemathesis
from schemathesis import Case, HookContext
from schemathesis.core.parameters import ParameterLocation

from tests.thoroughness import PERCENT

CALLER = os.environ.get("FUZZ_CALLER", "")  # the id of the user whose credential is in use
NOBODY = 10**15
LONG = 2000  # characters


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:  # noqa: ARG001
    """Leave out the patterns of long texts: schemathesis compiles them with the length, in a second each time.

    The second type of a body is read as the first one. CI sends it to one operation only.
    """
    remove_patterns(raw_schema)
    if PERCENT < 100:
        for path in ("/posts/{post_id}", "/webhooks/{webhook_id}"):
            del raw_schema["paths"][path]["patch"]["requestBody"]["content"]["application/merge-patch+json"]


def remove_patterns(schema: Any) -> None:
    if isinstance(schema, dict):
        if isinstance(length := schema.get("maxLength"), int) and length > LONG:
            schema.pop("pattern", None)
        schema = [*schema.values()]
    if isinstance(schema, list):
        for each in schema:
            remove_patterns(each)


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, object]) -> None:  # noqa: ARG001 - their signature
    """Leave out what only the server can make or the SDL has, and what excludes another part; never delete the caller.

    The parts of a request are valid or invalid on their own: a valid query may be sent with an invalid header, and
    schemathesis judges the request again after this hook has changed it.
    """
    if is_valid(case, ParameterLocation.QUERY):
        case.query.pop("cursor", None)
        case.query.pop("fields", None)
    if is_valid(case, ParameterLocation.BODY) and isinstance(case.body, dict) and "expectedVersion" in case.body:
        case.headers.pop("If-Match", None)
    if "X-API-Key" in case.headers:
        case.headers.pop("Authorization", None)
    if case.operation.label == "DELETE /users/{user_id}" and str(case.path_parameters["user_id"]) == CALLER:
        case.path_parameters["user_id"] = NOBODY


def is_valid(case: Case[Any], part: ParameterLocation) -> bool:
    """Return whether this part of the request was generated to fit the schema."""
    return case.meta is not None and part in case.meta.components and case.meta.components[part].mode.is_positive
