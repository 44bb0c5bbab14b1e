"""The limits by name, each set by a variable of its own."""

from functools import lru_cache
from typing import NamedTuple

from limits import RateLimitItem, parse

from contentapi.conf import conf

NAMES = ("anonymous", "authenticated", "writes", "tokens", "login", "login_address", "login_account")
VARIABLES = {name: f"contentapi_rate_{name}" for name in NAMES}


class Limit(NamedTuple):
    """A limit. Its value is read at use, so that a changed setting is heeded."""

    name: str

    @property
    def text(self) -> str:
        """The value as it was set, like `300/minute`."""
        value: str = getattr(conf.environment, VARIABLES[self.name])
        return value

    @property
    def terms(self) -> "LimitSpec":
        return parse_spec(self.name, self.text)

    @property
    def variable(self) -> str:
        return VARIABLES[self.name].upper()


class LimitSpec(NamedTuple):
    """What a limit's text says: how much in how many seconds, as the library has it and as an item of the header
    `RateLimit-Policy` does.
    """

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
    """What a request takes from a limit now, and what it takes in all, with what it has taken before."""

    limit: Limit
    terms: LimitSpec
    amount: int
    total: int
    key: str | None = None  # whose it is, where not all charges of a request are one's

    @classmethod
    def to(cls, total: int, limit: Limit, paid: int = 0) -> "Charge":
        """Charge up to a total. What is more than the whole limit is cut: else it could never succeed."""
        return build_charge(limit, limit.text, total, paid)


@lru_cache(1024)
def build_charge(limit: Limit, _text: str, total: int, paid: int) -> Charge:
    terms = limit.terms
    total = min(total, terms.amount)
    return Charge(limit, terms, max(0, total - paid), total)


class LimitStatus(NamedTuple):
    """How a key stands with a limit: what it has left, and in how many seconds some of the rest comes back."""

    limit: Limit
    remaining: int
    returns_in: int
    wait: int = 0  # seconds until there is room for what was refused; 0 where there is room already
