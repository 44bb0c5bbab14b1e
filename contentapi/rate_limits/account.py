"""Charge a request to the rate limit of its caller, and return the RateLimit headers of its response.

    account = Account(environ)                  # the address pays
    account.set_actor(actor)                    # from now on the user pays, whatever the credential
    account.charge_request()                    # raises `RateLimited`
    response.headers.update(account.headers)    # of each response, also of an error

The window slides: with `300/minute`, no 60 seconds have more than 300 requests, wherever they begin. A refused request
is not counted. After `Retry-After` seconds the same request succeeds, if the caller sends no others. A request that
costs more than the whole limit uses the whole limit. A GraphQL request costs 1 and more by its cost, and each of its
mutations is one write. The headers follow draft-ietf-httpapi-ratelimit-headers: `r` is the remaining amount, `t` the
number of seconds until more is available.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from contentapi.conf import conf
from contentapi.core.errors import ApiError, RateLimited
from contentapi.core.identity import Actor
from contentapi.db.engine.slots import enter_preparation_lane
from contentapi.http.client_address import client_address
from contentapi.http.request_log import classify_and_record
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.counters import InProcessCounter, LimitStatus
from contentapi.rate_limits.limits import ANONYMOUS, AUTHENTICATED, PREVIEWS, VARIABLES, Charge, Limit, build_charges
from contentapi.rate_limits.redis_windows import RedisCounter

# A key of the WSGI environ of a request of the server to itself. No client can set it.
UNMETERED = "contentapi.unmetered"
COUNTERS: dict[str, InProcessCounter | RedisCounter] = {}  # by the address of Redis, "" for this process


class Account:
    """Who pays for one request, the amount charged so far, and the headers of its response."""

    limits: tuple[Limit, ...] = (ANONYMOUS,)
    paid = 0
    statuses: Sequence[LimitStatus] = ()

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self.key = client_address(environ)
        self.is_metered = UNMETERED not in environ

    @property
    def headers(self) -> Mapping[str, str]:
        return build_rate_limit_headers(self.statuses) if self.statuses else {}

    def set_actor(self, actor: Actor) -> None:
        """Let the user of an authenticated actor pay instead of the address: all credentials of a user share limits.

        The maker of a preview link pays for its token, of which all links of the maker together have a share.
        """
        preview = actor.preview
        if preview is not None:
            self.limits, self.key = (PREVIEWS, AUTHENTICATED), f"user:{preview.maker_id}"
            current_record.get().credential = f"preview:{preview.link_id}"
        elif not actor.is_anonymous:
            self.limits, self.key = (AUTHENTICATED,), f"user:{actor.user_id}"
            current_record.get().credential = actor.credential_id or self.key

    def charge_request(self) -> None:
        """Charge the 1 that each request costs, unless it is charged already. Raises `RateLimited`."""
        self.charge(1)

    def charge_and_wait(self) -> None:
        """Charge a request before its document is parsed or its introspection fields are counted."""
        self.charge_request()
        if self.is_metered:  # the fast path's sample request runs at start-up or in another request: it must not wait
            enter_preparation_lane()

    def charge_operation(self, total: int, *, writes: int) -> None:
        """Charge `total`, the request included, in one step. Raises `RateLimited`, and has then charged the request."""
        try:
            self.charge(total, writes=writes)
        except RateLimited:
            if self.paid:
                raise
            self.charge_request()
            self.charge(total, writes=writes)

    def charge_failure(self, exception: Exception) -> ApiError:
        """Charge a failed request, unless it is charged. Return the recorded error: 429 comes before any other."""
        error = classify_and_record(exception)
        if isinstance(error, RateLimited):
            return error
        try:
            self.charge_request()
        except Exception as refusal:  # noqa: BLE001 - the endpoint is handling an error already
            return classify_and_record(refusal)
        return error

    def charge(self, total: int, *, writes: int = 0) -> None:
        """Charge up to `total`, and the writes of an authenticated caller; nothing if this raises `RateLimited`."""
        is_write = writes > 0 and self.limits[0] is AUTHENTICATED
        if not self.is_metered or (total <= self.paid and not is_write):
            return
        charges = build_charges(self.limits, total, self.paid, writes if is_write else 0)
        self.statuses = consume_charges(self.key, charges)
        if total > self.paid:
            self.paid = total


def charge_limits(*limits: Limit, key: str, amount: int = 1) -> Mapping[str, str]:
    """Charge an amount to each limit, or to none. Return the headers of the response. Raises `RateLimited`."""
    return build_rate_limit_headers(consume_charges(key, [Charge.to(amount, limit) for limit in limits]))


class Reservation:
    """One unit of each of several limits, each with its own key. Raises `RateLimited` if one of them is used up."""

    def __init__(self, keys: Mapping[Limit, str]) -> None:
        self.charges = [msgspec.structs.replace(Charge.to(1, limit), key=key) for limit, key in keys.items()]
        consume_charges("", self.charges)

    def refund(self) -> None:
        get_counter().refund("", self.charges)


def consume_charges(key: str, charges: Sequence[Charge]) -> Sequence[LimitStatus]:
    """Consume all charges, or none of them. Return the status of each limit. Raises `RateLimited`."""
    accepted, statuses = get_counter().consume(key, charges)
    if accepted:
        return statuses
    worst = max(statuses, key=lambda status: status.wait)
    limit, wait = worst.charge.limit, max(1, worst.wait)
    name = VARIABLES[limit.name].upper()
    raise RateLimited(
        f'The limit "{limit.name}" of {limit.text} ({name}) is used up. Try again in {wait} second{"s" * (wait > 1)}.',
        headers={**build_rate_limit_headers([worst] if charges[0].key else statuses), "Retry-After": str(wait)},
        limit=limit.name,
    )


def get_counter() -> InProcessCounter | RedisCounter:
    url = conf.environment.redis_url
    return COUNTERS.get(url) or COUNTERS.setdefault(url, RedisCounter(url) if url else InProcessCounter())


def build_rate_limit_headers(statuses: Sequence[LimitStatus]) -> dict[str, str]:
    """Return the headers. An authenticated caller gets the policy of the write limit too, even on a read."""
    items = ""
    for each in statuses:
        items += f', "{each.charge.limit.name}";r={each.remaining};t={each.reset_in}'
    return {"RateLimit": items[2:], "RateLimit-Policy": statuses[0].charge.policies}
