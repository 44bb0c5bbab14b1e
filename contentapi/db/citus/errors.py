"""Errors of shards. Citus passes the message on, and not the fields that name a constraint."""

import re

CONSTRAINT = re.compile(r'constraint "(\w+?)(?:_\d{6,})?"')  # that of a shard ends with the id of the shard


def find_constraint(message: str) -> str:
    """Return the name of the constraint that a message names, or an empty text."""
    found = CONSTRAINT.search(message)
    return found[1] if found else ""
