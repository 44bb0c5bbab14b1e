"""What a document cannot say, for schemathesis, which makes up each part of a request by itself."""

import os
from typing import Any

import schemathesis
from schemathesis import Case, HookContext

ASKER = os.environ.get("FUZZ_ASKER", "")  # the id of the user whose credential is in use
NOBODY = 10**15


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, object]) -> None:  # noqa: ARG001 - their signature
    """Leave out what only the server can make, and what excludes another part; let the asker live on."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.query.pop("cursor", None)
        if isinstance(case.body, dict) and "expectedVersion" in case.body:
            case.headers.pop("If-Match", None)
    if "X-API-Key" in case.headers:
        case.headers.pop("Authorization", None)
    if case.operation.label == "DELETE /users/{user_id}" and str(case.path_parameters["user_id"]) == ASKER:
        case.path_parameters["user_id"] = NOBODY
