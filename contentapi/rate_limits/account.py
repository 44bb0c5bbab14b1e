"""Rate limits: how much a credential or an address may ask for, and the headers that say what is left of it.

    account = Account(environ)                  # who pays: the address, and once it is known, the credential
    account.belongs_to(actor)
    account.charge(1)                           # raises `RateLimited`; `account.headers` go out with every answer
    charge(TOKENS, key=client_address(environ)) # the same for one limit and one key; returns the headers

A window slides: no 60 seconds, wherever they begin, hold more than `300/minute` says. What is refused is not counted,
and `Retry-After` is true: who waits that long, and spends nothing elsewhere, has room for the same request. A request
that takes more than a limit as a whole takes all of it. A GraphQL request takes 1 and more by its cost, and each of its
mutations takes one write. The headers follow draft-ietf-httpapi-ratelimit-headers: `r` is what is left, `t` the seconds
until some of the rest comes back.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from contentapi.conf import conf
from contentapi.core.errors import RateLimited
from contentapi.core.identity import Actor
from contentapi.http.client_address import client_address
from contentapi.rate_limits.counters import Counter, InProcessCounter, RedisCounter
from contentapi.rate_limits.limits import (
    ANONYMOUS,
    AUTHENTICATED,
    WRITES,
    Charge,
    Limit,
    LimitStatus,
    parse_spec,
)

UNMETERED = "contentapi.unmetered"  # in a WSGI environ, where no client can put it: the server asks itself
COUNTERS: dict[str, Counter] = {}  # by the address of Redis; empty for this process


class Account:
    """Who pays for one request, what it has taken so far, and the headers for its answer."""

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self.limit = ANONYMOUS
        self.key = client_address(environ)
        self.is_metered = UNMETERED not in environ
        self.paid = 0
        self.standings: Sequence[LimitStatus] = ()

    @property
    def headers(self) -> Mapping[str, str]:
        return rate_limit_headers(self.standings) if self.standings else {}

    def set_actor(self, actor: Actor) -> None:
        """Let the credential of somebody known pay, in place of the address."""
        if not actor.is_anonymous:
            self.limit, self.key = AUTHENTICATED, actor.credential_id or f"user:{actor.user_id}"

    def charge_request(self) -> None:
        """Take the 1 that each request takes, unless that has been taken. Raises `RateLimited`."""
        self.charge(1)

    def charge_operation(self, total: int, *, writes: int) -> None:
        """Take what asking takes and all else of `total` in one step; the former also where this is refused."""
        try:
            self.charge(total, writes=writes)
        except RateLimited:
            if self.paid:
                raise
            self.charge_request()
            self.charge(total, writes=writes)

    def charge_failed_request(self) -> Exception | None:
        """Take for a request that has failed what each takes; return why that cannot be."""
        try:
            self.charge_request()
        except Exception as refusal:  # noqa: BLE001 - a failed request has no other edge above it
            return refusal
        return None

    def charge(self, total: int, *, writes: int = 0) -> None:
        """Charge up to `total`; the writes of an authenticated caller also count against the write limit.

        Raises `RateLimited`, and has then charged nothing.
        """
        is_write = writes > 0 and self.limit is AUTHENTICATED
        if not self.is_metered or (total <= self.paid and not is_write):
            return
        write_charges = [Charge.to(writes, WRITES)] if is_write else []
        if write_charges and self.standings and total <= self.paid:
            try:
                self.standings = [self.standings[0], *consume(self.key, write_charges)]
            except RateLimited:
                pass  # below it is told when there is room for both
            else:
                return
        charges = [Charge.to(total, self.limit, self.paid), *write_charges]
        self.standings = consume(self.key, charges)
        self.paid = charges[0].total


def charge(*limits: Limit, key: str, amount: int = 1) -> Mapping[str, str]:
    """Take an amount from each limit, or from none. Returns the headers for the answer; raises `RateLimited`."""
    return rate_limit_headers(consume(key, [Charge.to(amount, limit) for limit in limits]))


class Reservation:
    """1 unit of each of several limits, each with a key of its own. Raises `RateLimited` if one has no room."""

    def __init__(self, keys: Mapping[Limit, str]) -> None:
        self.charges = [Charge.to(1, limit)._replace(key=key) for limit, key in keys.items()]
        consume("", self.charges)

    def refund(self) -> None:
        get_counter().refund("", self.charges)


def consume(key: str, charges: Sequence[Charge]) -> Sequence[LimitStatus]:
    """Take all charges, or none of them. Raises `RateLimited`."""
    taken, standings = get_counter().take(key, charges)
    if taken:
        return standings
    worst = max(standings, key=lambda standing: standing.wait)
    wait = max(1, worst.wait)
    raise RateLimited(
        f'The limit "{worst.limit.name}" of {worst.limit.text} ({worst.limit.variable}) is used up. '
        f"Try again in {wait} second{'s' if wait > 1 else ''}.",
        headers={**rate_limit_headers([worst] if charges[0].key else standings), "Retry-After": str(wait)},
    )


def get_counter() -> Counter:
    url = conf.environment.redis_url
    return COUNTERS.get(url) or COUNTERS.setdefault(url, RedisCounter(url) if url else InProcessCounter())


def reset_counters() -> None:
    """Forget what was counted in this process."""
    COUNTERS.clear()


def rate_limit_headers(standings: Sequence[LimitStatus]) -> dict[str, str]:
    shares = [f'"{limit.name}";r={remaining};t={returns_in}' for limit, remaining, returns_in, _ in standings]
    return {
        "RateLimit": ", ".join(shares),
        "RateLimit-Policy": build_policy_header(standings[0].limit.name, standings[0].limit.text, WRITES.text),
    }


@lru_cache(64)
def build_policy_header(name: str, text: str, writes: str) -> str:
    """Return the policies that hold for whoever meets a limit: who may write is told so already when reading."""
    own = parse_spec(name, text).policy
    return f"{own}, {parse_spec(WRITES.name, writes).policy}" if name == AUTHENTICATED.name else own
