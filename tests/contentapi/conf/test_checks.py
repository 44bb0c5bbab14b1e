"""The system checks, by their ids."""

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from contentapi.conf import environment
from contentapi.conf.checks import ENVIRONMENT_TAG, require_valid_environment

SAMPLES = {
    "PORT": "http",
    "WEB_CONCURRENCY": "0",
    "CONTENTAPI_HTTPS": "yes",
    "CONTENTAPI_INTROSPECTION": "yes",
    "CONTENTAPI_LOG_LEVEL": "LOUD",
    "CONTENTAPI_MAX_BODY": "0",
    "CONTENTAPI_MAX_PAGE": "0",
    "CONTENTAPI_MAX_QUERY_LENGTH": "0",
    "CONTENTAPI_MAX_TOKENS": "0",
    "CONTENTAPI_PUBLIC_URL": "https://api.example.com/",
    "CONTENTAPI_STATEMENT_TIMEOUT": "0",
    "CONTENTAPI_THREADS": "0",
}
SECRETS = {"SECRET_KEY": "x", "JWT_SECRET": "x" * 32}


def set_environment(settings: Settings, **variables: str) -> None:
    settings.ENVIRONMENT_PROBLEMS = environment.read_environment(variables)[1]


def test_a_sound_environment_passes(settings: Settings) -> None:
    set_environment(settings)

    errors = run_checks(tags=[ENVIRONMENT_TAG])
    require_valid_environment()

    assert errors == []


@pytest.mark.parametrize(("name", "value"), SAMPLES.items())
def test_a_wrong_value_is_one_error_with_the_variables_id_and_a_hint(settings: Settings, name: str, value: str) -> None:
    set_environment(settings, **{name: value})

    errors = run_checks(tags=[ENVIRONMENT_TAG])

    assert [error.id for error in errors] == [f"contentapi.{name}"]
    assert errors[0].hint


@pytest.mark.parametrize(
    ("variables", "ids"),
    [
        (
            {"DATABASE_URL": "postgresql://db.invalid/app"},
            ["contentapi.SECRET_KEY", "contentapi.JWT_PRIVATE_KEY"],
        ),
        ({"DATABASE_URL": "mysql://db.invalid/app", **SECRETS}, ["contentapi.DATABASE_URL"]),
        ({"DATABASE_URL": "postgresql://app:5%@db.invalid/app", **SECRETS}, ["contentapi.DATABASE_URL"]),
        (
            {"DATABASE_URL": "db.invalid"},
            ["contentapi.DATABASE_URL", "contentapi.SECRET_KEY", "contentapi.JWT_PRIVATE_KEY"],
        ),
        ({"JWT_SECRET": "short"}, ["contentapi.JWT_SECRET"]),
        ({"JWT_PRIVATE_KEY": "none"}, ["contentapi.JWT_PRIVATE_KEY"]),
    ],
)
def test_a_database_or_a_key_that_cannot_be_used_is_told_by_id(
    settings: Settings, variables: dict[str, str], ids: list[str]
) -> None:
    set_environment(settings, **variables)

    errors = run_checks(tags=[ENVIRONMENT_TAG])

    assert [error.id for error in errors] == ids


def test_a_server_ends_with_every_problem_named_and_no_secret(settings: Settings) -> None:
    set_environment(settings, PORT="http", DATABASE_URL="postgresql://app:hush%@db.invalid/app")

    with pytest.raises(SystemExit) as ended:
        require_valid_environment()

    told = str(ended.value)
    assert [line.split(":")[0] for line in told.splitlines() if not line.startswith("\t")] == [
        "contentapi.PORT",
        "contentapi.DATABASE_URL",
        "contentapi.SECRET_KEY",
        "contentapi.JWT_PRIVATE_KEY",
    ]
    assert told.count("\tHINT: ") == 4
    assert "hush" not in told
