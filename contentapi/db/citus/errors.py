"""Errors of shards. Citus passes the message on, and not the fields that name a constraint."""

import re

from django.db import NotSupportedError

from contentapi.db.citus.claims import is_distributed

CONSTRAINT = re.compile(r'constraint "(\w+?)(?:_\d{6,})?"')  # that of a shard ends with the id of the shard


def find_constraint(message: str) -> str:
    """Return the name of the constraint that a message names, or an empty text."""
    return found[1] if (found := CONSTRAINT.search(message)) else ""


def describe_refusal(exception: BaseException) -> str:
    """Return the message to a client whose statement Citus refuses, or an empty text."""
    if is_distributed() and isinstance(exception, NotSupportedError):
        return "The distributed database cannot carry this out. Request its parts one by one."
    return ""
