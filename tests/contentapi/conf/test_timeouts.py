import pytest
from pytest_django import Settings

from contentapi.conf.environment import read_environment
from contentapi.conf.timeouts import derive_timeouts
from tests.environment import check, get_messages


@pytest.mark.parametrize("statement", ["100", "5000", "7500", "60000", "600000"])
def test_each_timeout_is_below_the_next(statement: str) -> None:
    environment, errors = read_environment({"CONTENTAPI_STATEMENT_TIMEOUT": statement})

    each = derive_timeouts(environment)

    assert errors == []
    assert each.lock <= each.statement < each.slot <= each.idle_in_transaction < each.worker < each.stall
    assert each.slot + each.statement < each.shutdown


def test_timeouts_follow_the_statement_timeout(settings: Settings) -> None:
    environment, _ = read_environment({"CONTENTAPI_STATEMENT_TIMEOUT": "60000"})

    assert (environment.contentapi_worker_timeout, environment.contentapi_shutdown_timeout) == (240_000, 240_000)
    assert check(settings, CONTENTAPI_STATEMENT_TIMEOUT="60000") == []


@pytest.mark.parametrize("variable", ["CONTENTAPI_WORKER_TIMEOUT", "CONTENTAPI_SHUTDOWN_TIMEOUT"])
def test_timeout_below_four_statements_is_an_error(settings: Settings, variable: str) -> None:
    errors = check(settings, CONTENTAPI_STATEMENT_TIMEOUT="10000", **{variable: "39999"})

    message = f"{variable} must be at least 40000 (4 times CONTENTAPI_STATEMENT_TIMEOUT, 10000), not 39999."
    assert get_messages(errors) == [(variable, message)]
