from collections.abc import Callable
from functools import partial

import pytest
from django.core.management import call_command
from pytest_django import Settings

from contentapi.db.distribution import MISSING, POOLED, REMEDIES, UNEXPECTED, WORKER, find_mismatch
from contentapi.health import checks
from contentapi.health.results import failed
from tests.environment import set_environment

STARTS = [checks.report_database_state, partial(call_command, "worker")]


@pytest.mark.parametrize(
    ("variable", "migrations", "claims", "in_effect", "found"),
    [
        ("", True, False, False, ""),
        ("citus", True, True, True, ""),
        ("", True, True, True, MISSING),
        ("citus", True, False, True, UNEXPECTED),
        ("citus", False, False, True, ""),  # nothing is migrated
        ("citus", False, True, True, WORKER),
        ("citus", True, True, False, POOLED),
    ],
)
def test_variable_and_database_agree_or_the_difference_is_named(
    settings: Settings, variable: str, found: str, *, migrations: bool, claims: bool, in_effect: bool
) -> None:
    set_environment(settings, CONTENTAPI_DISTRIBUTED=variable)

    assert find_mismatch(has_migrations=migrations, has_claims=claims, has_settings=in_effect) == found


@pytest.mark.parametrize("begin", STARTS, ids=["server", "worker"])
def test_process_does_not_start_and_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch, begin: Callable[[], object]
) -> None:
    for reason, remedy in REMEDIES.items():
        monkeypatch.setattr(checks, "check_database", lambda *_: {"database": failed(reason)})  # noqa: B023

        with pytest.raises(SystemExit, match=r"contentapi\.CONTENTAPI_DISTRIBUTED") as error:
            begin()

        assert remedy in str(error.value)


@pytest.mark.django_db
def test_only_the_name_of_the_engine_is_accepted(settings: Settings) -> None:
    set_environment(settings, CONTENTAPI_DISTRIBUTED="sharded")

    assert [error.id for error in settings.ENVIRONMENT_ERRORS] == ["contentapi.CONTENTAPI_DISTRIBUTED"]
