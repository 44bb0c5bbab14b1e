"""How many uploads a server receives at a time, so that no person fills the folder of temporary files."""

from typing import Any

from contentapi.core.identity import Actor
from contentapi.rate_limits.account import Account
from contentapi.rate_limits.middleware import ACCOUNT

MOST = 16  # of a process
MOST_OF_PERSON = 3
PLACE = "contentapi.upload_place"  # a key of the WSGI environ; the value is the id of the user
NO_PLACE = f"A person may send {MOST_OF_PERSON} uploads at a time, and a server receives {MOST}. Try again shortly."


def charge_upload(environ: dict[str, Any], sender: Actor) -> None:
    """Charge a request before its body is read. The application then charges nothing. Raises `RateLimited`."""
    account = Account(environ)
    account.set_actor(sender)
    account.charge(1, writes=1)
    account.is_metered = False
    environ[ACCOUNT] = account
