"""Errors of shards. Citus passes the message on, and not the fields that name a constraint."""

import re

from django.db import InternalError


def find_constraint(message: str) -> str:
    """Return the name of the constraint that a message names, without the id of its shard, or an empty text."""
    return found[1] if (found := re.search(r'constraint "(\w+?)(?:_\d{6,})?"', message)) else ""


def is_lost_node(exception: BaseException) -> bool:
    """Return whether a node has ended a connection or refused a commit, which is no error of its own in Citus."""
    return isinstance(exception, InternalError) and bool(re.search("server closed|could not commit", str(exception)))
