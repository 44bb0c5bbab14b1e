"""Run the system checks of an environment."""

from django.core.checks import CheckMessage, run_checks
from pytest_django import Settings

from contentapi.conf.checks import START_TAG
from contentapi.conf.environment import read_environment

KEY = "a key that is long enough for the tests"
SECRETS = {"SECRET_KEY": KEY, "JWT_SECRET": KEY}


def set_environment(settings: Settings, **variables: str) -> None:
    """Replace all environment variables."""
    settings.ENVIRONMENT, settings.ENVIRONMENT_ERRORS = read_environment(variables)


def check(settings: Settings, **variables: str) -> list[CheckMessage]:
    """Return the errors of these environment variables, sorted by id."""
    set_environment(settings, **variables)
    return sorted(run_checks(tags=[START_TAG]), key=lambda error: str(error.id))


def get_messages(errors: list[CheckMessage]) -> list[tuple[str, str]]:
    """Return the variable and the message of each error."""
    return [(str(error.id).removeprefix("contentapi."), error.msg) for error in errors]
