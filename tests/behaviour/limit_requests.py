"""Requests that are close to the limits, for the tests of evasions."""

from typing import Any, NamedTuple

DEEP = "posts { author { " * 5 + "posts { author { id } }" + " } }" * 5  # 13 fields
ALL = "{ posts(limit: 100) { comments { author { posts { id } } } } }"  # costs 120,100


class Request(NamedTuple):
    """A document, its variables, and the name of the selected operation."""

    query: str
    variables: dict[str, Any] | None = None
    name: str | None = None


def repeat(count: int, text: str, between: str = " ") -> str:
    """Repeat a text, with its number for each # and the next one for each @."""
    return between.join(text.replace("#", str(number)).replace("@@", str(number + 1)) for number in range(count))


def double_fragments(kind: str, inside: str, spread: str = "...F@@ ...F@@") -> str:
    """Return a chain of fragments of which each spreads the next one twice: 4,096 times `inside`."""
    return repeat(12, f"fragment F# on {kind} {{ {spread} }}") + f" fragment F12 on {kind} {{ {inside} }}"


def build_sized_request(declared: str, value: Any = None, size: str = "$n") -> Request:
    document = (
        f"query ({declared}) {{ posts(limit: {size}) {{ comments(limit: {size}) {{ author {{ posts {{ id }} }} }} }} }}"
    )
    return Request(document, None if value is None else {"n": value})
