"""The limits by name. The environment variable `CONTENTAPI_RATE_<NAME>` sets each limit."""

import re
from functools import lru_cache
from typing import NamedTuple

import msgspec
from django.core.signals import setting_changed

from contentapi.conf import conf
from contentapi.conf.environment import Environment

RATE = re.compile(r"(\d+)/(\d*)(second|minute|hour|day)s?")  # what `contentapi.conf.environment` accepts
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
PREFIX = "contentapi_rate_"
VARIABLES = {name.removeprefix(PREFIX): name for name in Environment.__struct_fields__ if name.startswith(PREFIX)}


class Limit(NamedTuple):
    """A limit. Its value is that of the setting."""

    name: str

    @property
    def text(self) -> str:
        """The value of the setting, like `300/minute`."""
        return str(getattr(conf.environment, VARIABLES[self.name]))

    @property
    def spec(self) -> "LimitSpec":
        return parse_spec(self.name, self.text)


class LimitSpec(msgspec.Struct, frozen=True):
    """A parsed limit: `amount` in `window` seconds, and the same as an item of the header RateLimit-Policy."""

    amount: int
    window: int
    policy: str


@lru_cache(64)
def parse_spec(name: str, text: str) -> LimitSpec:
    [(amount, number, unit)] = RATE.findall(text)
    window = int(number or 1) * SECONDS[unit]
    return LimitSpec(int(amount), window, f'"{name}";q={amount};w={window}')


ANONYMOUS = Limit("anonymous")
AUTHENTICATED = Limit("authenticated")
WRITES = Limit("writes")
TOKENS = Limit("tokens")
PREVIEWS = Limit("previews")  # requests with the preview tokens of a person
LOGIN = Limit("login")  # wrong passwords for an account from an address
LOGIN_ADDRESS = Limit("login_address")  # wrong passwords from an address, for any account
LOGIN_ACCOUNT = Limit("login_account")  # wrong passwords for an account, from any address


SECOND_LIMITS = {AUTHENTICATED: WRITES, PREVIEWS: AUTHENTICATED}  # which callers with the first one learn too


class Charge(msgspec.Struct, frozen=True):
    """The amount that a request consumes of a limit now, and its total, which includes earlier charges."""

    limit: Limit
    spec: LimitSpec
    amount: int
    total: int
    policies: str  # the header RateLimit-Policy of a response whose first limit is this one
    key: str | None = None  # who pays, if not all charges of a request have the same payer

    @classmethod
    def to(cls, total: int, limit: Limit, paid: int = 0) -> "Charge":
        """Charge up to a total. It is cut to the whole limit: otherwise the request could never succeed."""
        spec, second = limit.spec, SECOND_LIMITS.get(limit)
        total = min(total, spec.amount)
        policies = f"{spec.policy}, {second.spec.policy}" if second else spec.policy
        return cls(limit, spec, max(0, total - paid), total, policies)


@lru_cache(1024)
def build_charges(limits: tuple[Limit, ...], total: int, paid: int, writes: int) -> tuple[Charge, ...]:
    """Return the charges of a request up to a total to each limit, and of its writes."""
    charges = (Charge.to(total, limit, paid) for limit in limits)
    return (*charges, Charge.to(writes, WRITES)) if writes else tuple(charges)


setting_changed.connect(lambda **_: build_charges.cache_clear(), weak=False)
