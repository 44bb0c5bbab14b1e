"""The limits and their settings."""

import pytest
from pytest_django import Settings

from contentapi.conf.environment import Environment
from contentapi.rate_limits import limits
from contentapi.rate_limits.limits import ANONYMOUS, WRITES, Charge, Limit, LimitSpec
from tests.contentapi.rate_limits.test_account import limited


def test_every_rate_of_the_environment_is_a_limit() -> None:
    rates = {name for name in Environment.__struct_fields__ if name.startswith("contentapi_rate_")}

    assert {limits.VARIABLES[limit.name] for limit in vars(limits).values() if isinstance(limit, Limit)} == rates


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("300/minute", (300, 60, '"writes";q=300;w=60')),
        ("10/30seconds", (10, 30, '"writes";q=10;w=30')),
        ("9000/day", (9000, 86400, '"writes";q=9000;w=86400')),
    ],
)
def test_setting_is_parsed_to_amount_window_and_policy(
    settings: Settings, text: str, spec: tuple[int, int, str]
) -> None:
    limited(settings, writes=text)

    assert WRITES.spec == LimitSpec(*spec)


def test_charge_is_cut_to_the_limit_and_excludes_what_is_paid(settings: Settings) -> None:
    limited(settings, anonymous="5/minute")

    charges = [Charge.to(total, ANONYMOUS, paid) for total, paid in ((3, 0), (3, 1), (9, 1), (2, 3))]

    assert [(charge.amount, charge.total) for charge in charges] == [(3, 3), (2, 3), (4, 5), (0, 2)]
