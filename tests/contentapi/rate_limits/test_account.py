"""Charges of a request and its RateLimit headers."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from contentapi.core.errors import Conflict, RateLimited, to_api_error
from contentapi.core.identity import ANONYMOUS, Actor, Role
from contentapi.rate_limits.account import Account, charge_limits
from contentapi.rate_limits.limits import LOGIN, TOKENS

WRITER = Actor(user_id=7, role=Role.AUTHOR, credential="api-key", credential_id="key:capi_1234abcd")
ENVIRON = {"REMOTE_ADDR": "203.0.113.7"}


def limited(settings: Settings, **limits: str) -> None:
    named = {f"contentapi_rate_{name}": value for name, value in limits.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **named)


def make_account(actor: Actor = ANONYMOUS, **more: Any) -> Account:
    account = Account({**ENVIRON, **more})
    account.set_actor(actor)
    return account


def test_anonymous_caller_gets_the_headers_of_the_address_limit() -> None:
    account = make_account()

    account.charge(1)

    assert account.headers == {
        "RateLimit": '"anonymous";r=299;t=60',
        "RateLimit-Policy": '"anonymous";q=300;w=60',
    }


def test_credential_gets_both_policies_and_a_write_both_remainders() -> None:
    account = make_account(WRITER)

    account.charge(1)
    assert account.headers["RateLimit"] == '"authenticated";r=2999;t=60'
    account.charge(3, writes=3)

    assert account.headers == {
        "RateLimit": '"authenticated";r=2997;t=60, "writes";r=597;t=60',
        "RateLimit-Policy": '"authenticated";q=3000;w=60, "writes";q=600;w=60',
    }


@pytest.mark.parametrize(("limits", "wait"), [({}, 3600), ({"authenticated": "3/day"}, 86400)])
def test_refused_write_waits_until_both_limits_have_room(settings: Settings, limits: dict[str, str], wait: int) -> None:
    limited(settings, writes="1/hour", **limits)
    make_account(WRITER).charge(1, writes=1)
    make_account(WRITER).charge(1)
    account = make_account(WRITER)
    account.charge(1)

    with pytest.raises(RateLimited) as refused:
        account.charge(1, writes=1)

    assert refused.value.headers["Retry-After"] == str(wait)
    assert refused.value.headers["RateLimit"].endswith('"writes";r=0;t=3600')
    assert account.headers["RateLimit"].startswith('"authenticated";r=')


def test_all_credentials_of_a_user_share_the_limits_of_the_user() -> None:
    credentials = [
        WRITER,
        replace(WRITER, credential_id="key:capi_5678abcd"),
        replace(WRITER, credential="jwt", credential_id="user:7"),
        replace(WRITER, credential="jwt", credential_id="user:7", client_id="news"),
        replace(WRITER, user_id=8),
    ]
    accounts = [make_account(credential) for credential in credentials]

    for account in accounts:
        account.charge(1, writes=1)

    remaining = [account.headers["RateLimit"].replace(";t=60", "") for account in accounts]
    assert remaining == [
        *(f'"authenticated";r={3000 - count}, "writes";r={600 - count}' for count in range(1, 5)),
        '"authenticated";r=2999, "writes";r=599',
    ]


def test_anonymous_write_is_charged_to_the_anonymous_limit_only() -> None:
    account = make_account()

    account.charge(2, writes=2)

    assert account.headers["RateLimit"] == '"anonymous";r=298;t=60'


def test_each_user_and_each_address_has_its_own_limit(settings: Settings) -> None:
    limited(settings, anonymous="1/minute", authenticated="1/minute")

    for account in (
        make_account(),
        make_account(REMOTE_ADDR="203.0.113.8"),
        make_account(WRITER),
        make_account(Actor(user_id=8, role=Role.AUTHOR)),
    ):
        account.charge(1)

    with pytest.raises(RateLimited):
        make_account(Actor(user_id=7, role=Role.AUTHOR, credential_id="user:7")).charge(1)


def test_refusal_names_the_limit_its_value_its_variable_and_the_wait(settings: Settings) -> None:
    limited(settings, writes="2/hour")
    make_account(WRITER).charge(2, writes=2)

    with pytest.raises(RateLimited) as refused:
        make_account(WRITER).charge(1, writes=1)

    assert refused.value.message == (
        'The limit "writes" of 2/hour (CONTENTAPI_RATE_WRITES) is used up. Try again in 3600 seconds.'
    )
    assert refused.value.headers == {
        "RateLimit": '"authenticated";r=2998;t=60, "writes";r=0;t=3600',
        "RateLimit-Policy": '"authenticated";q=3000;w=60, "writes";q=2;w=3600',
        "Retry-After": "3600",
    }


def test_refusal_by_one_limit_consumes_nothing_of_the_other(settings: Settings) -> None:
    limited(settings, writes="2/minute", authenticated="9/minute")
    make_account(WRITER).charge(2, writes=2)

    for _ in range(5):
        with pytest.raises(RateLimited):
            make_account(WRITER).charge(2, writes=2)

    reading = make_account(WRITER)
    reading.charge(1)
    assert reading.headers["RateLimit"].startswith('"authenticated";r=6;')


def test_writes_are_charged_by_number_and_the_request_by_its_total(settings: Settings) -> None:
    limited(settings, writes="12/minute")
    account = make_account(WRITER)
    account.charge(1)

    account.charge(2, writes=10)

    assert account.headers["RateLimit"] == '"authenticated";r=2998;t=60, "writes";r=2;t=60'


def test_more_writes_than_the_whole_limit_consume_all_of_it(settings: Settings) -> None:
    limited(settings, writes="3/minute")
    make_account(WRITER).charge(1, writes=10)

    with pytest.raises(RateLimited) as refused:
        make_account(WRITER).charge(1, writes=1)

    assert refused.value.headers["RateLimit"].endswith('"writes";r=0;t=60')


def test_named_limit_is_charged_for_any_key(settings: Settings) -> None:
    limited(settings, tokens="2/minute")

    remaining = [charge_limits(TOKENS, key="203.0.113.7")["RateLimit"] for _ in range(2)]

    assert remaining == ['"tokens";r=1;t=60', '"tokens";r=0;t=60']
    with pytest.raises(RateLimited):
        charge_limits(TOKENS, key="203.0.113.7")
    assert charge_limits(LOGIN, key="203.0.113.7")["RateLimit-Policy"] == '"login";q=10;w=60'


def test_failed_request_is_charged_once_and_keeps_its_error() -> None:
    account, error = make_account(), Conflict("Version conflict.")

    errors = [account.charge_failure(error) for _ in range(2)]

    assert errors == [error, error]
    assert account.headers["RateLimit"] == '"anonymous";r=299;t=60'


def test_failed_request_over_the_limit_gets_429(settings: Settings) -> None:
    limited(settings, anonymous="1/minute")
    make_account().charge_request()

    assert isinstance(make_account().charge_failure(Conflict("Version conflict.")), RateLimited)


def test_failure_of_the_counter_replaces_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ValueError("no counter")

    monkeypatch.setattr("contentapi.rate_limits.account.get_counter", fail)

    error = make_account().charge_failure(Conflict("Version conflict."))

    assert (error.status, type(error.__cause__)) == (to_api_error(ValueError()).status, ValueError)
