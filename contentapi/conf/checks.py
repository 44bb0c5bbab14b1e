"""System checks of the environment: one error for each variable that cannot be used, with what to do about it."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register, run_checks

ENVIRONMENT_TAG = "environment"


@register(ENVIRONMENT_TAG)
def check_environment(**_: Any) -> list[Error]:
    return [
        Error(problem.message, hint=problem.hint, id=f"contentapi.{problem.variable}")
        for problem in settings.ENVIRONMENT_PROBLEMS
    ]


def require_valid_environment() -> None:
    """End a server's process with what is wrong with its environment. (`manage.py` runs the checks by itself.)"""
    errors = run_checks(tags=[ENVIRONMENT_TAG])
    if errors:
        raise SystemExit("\n".join(f"{error.id}: {error.msg}\n\tHINT: {error.hint}" for error in errors))
