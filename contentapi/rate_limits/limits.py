"""The limits by name. The environment variable `CONTENTAPI_RATE_<NAME>` sets each limit."""

from functools import lru_cache
from typing import NamedTuple

from limits import RateLimitItem, parse

from contentapi.conf import conf

NAMES = ("anonymous", "authenticated", "writes", "tokens", "login", "login_address", "login_account")
VARIABLES = {name: f"contentapi_rate_{name}" for name in NAMES}


class Limit(NamedTuple):
    """A limit. Its value is read at each use, so that tests can change the setting."""

    name: str

    @property
    def text(self) -> str:
        """The value of the setting, like `300/minute`."""
        value: str = getattr(conf.environment, VARIABLES[self.name])
        return value

    @property
    def spec(self) -> "LimitSpec":
        return parse_spec(self.name, self.text)

    @property
    def variable(self) -> str:
        return VARIABLES[self.name].upper()


class LimitSpec(NamedTuple):
    """A parsed limit: `amount` in `window` seconds, as an item of the library and as one of RateLimit-Policy."""

    item: RateLimitItem
    amount: int
    window: int
    policy: str


@lru_cache(64)
def parse_spec(name: str, text: str) -> LimitSpec:
    item = parse(text)
    amount, window = item.amount, item.get_expiry()
    return LimitSpec(item, amount, window, f'"{name}";q={amount};w={window}')


ANONYMOUS = Limit("anonymous")
AUTHENTICATED = Limit("authenticated")
WRITES = Limit("writes")
TOKENS = Limit("tokens")
LOGIN = Limit("login")  # wrong passwords for an account from an address
LOGIN_ADDRESS = Limit("login_address")  # wrong passwords from an address, for any account
LOGIN_ACCOUNT = Limit("login_account")  # wrong passwords for an account, from any address


class Charge(NamedTuple):
    """The amount that a request consumes of a limit now, and its total, which includes earlier charges."""

    limit: Limit
    spec: LimitSpec
    amount: int
    total: int
    key: str | None = None  # who pays, if not all charges of a request have the same payer

    @classmethod
    def to(cls, total: int, limit: Limit, paid: int = 0) -> "Charge":
        """Charge up to a total. It is cut to the whole limit: otherwise the request could never succeed."""
        return build_charge(limit, limit.text, total, paid)


@lru_cache(1024)
def build_charge(limit: Limit, _text: str, total: int, paid: int) -> Charge:
    spec = limit.spec
    total = min(total, spec.amount)
    return Charge(limit, spec, max(0, total - paid), total)


class LimitStatus(NamedTuple):
    """The status of a key at a limit: the remaining amount, and the seconds until more is available."""

    limit: Limit
    remaining: int
    reset_in: int
    wait: int = 0  # seconds until a refused request would succeed; 0 if it succeeds now
