"""Rate limits: how much a credential or an address may request, and the headers that report the rest.

`limits` names the limits, `account` charges a request to them, `counters` counts in this process or in Redis, and
`middleware` charges the requests that no endpoint charges.
"""

from contentapi.rate_limits.account import Account, Reservation, charge, reset_counters
from contentapi.rate_limits.limits import (
    ANONYMOUS,
    AUTHENTICATED,
    LOGIN,
    LOGIN_ACCOUNT,
    LOGIN_ADDRESS,
    TOKENS,
    WRITES,
    Limit,
)

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "LOGIN",
    "LOGIN_ACCOUNT",
    "LOGIN_ADDRESS",
    "TOKENS",
    "WRITES",
    "Account",
    "Limit",
    "Reservation",
    "charge",
    "reset_counters",
]
