"""What a document cannot say, for schemathesis: it makes up each part of a request by itself."""

import os

import schemathesis
from schemathesis import Case, HookContext

ASKERS = os.environ.get("FUZZ_ASKERS", "").split()  # the ids of the users whose credentials are in use
NOBODY = 10**15


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, object]) -> None:  # noqa: ARG001 - their signature
    """Leave out what only the server can make, and what excludes another part; let no asker delete themselves."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.query.pop("cursor", None)
    if "X-API-Key" in case.headers:
        case.headers.pop("Authorization", None)
    if case.operation.label == "DELETE /users/{user_id}" and str(case.path_parameters["user_id"]) in ASKERS:
        case.path_parameters["user_id"] = NOBODY
