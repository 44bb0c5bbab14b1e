"""The requests of the attacks: the most expensive documents that an anonymous client may send, each text a new one."""

import json
from collections.abc import Callable
from itertools import chain, repeat

from graphql import get_introspection_query

LARGE_TAG = "hostile-large"  # of the posts whose bodies make up a response of 2 MB

SCALARS = "id title body status createdAt updatedAt publishAt tags version commentCount"
AUTHOR = "author { id name bio avatarUrl email }"
TYPE = "kind name description fields { name args { name type { name ofType { name } } } type { name ofType { name } } }"


def encode(document: str) -> bytes:
    return json.dumps({"query": document}).encode()


def large_response() -> str:
    """Return the query whose response has 2 MB."""
    return f'{{ postsConnection(first: 20, filter: {{tag: "{LARGE_TAG}"}}) {{ edges {{ node {{ body }} }} }} }}'


def expensive_document(number: int) -> str:
    """Return the document of a client's request with this number. No two numbers give the same text."""
    make = EXPENSIVE[number % len(EXPENSIVE)]
    return f"query q{number} {make(number)}"


def page_with_everything(_: int) -> str:
    return f"{{ posts(limit: 100) {{ {SCALARS} {AUTHOR} comments(limit: 100) {{ id body createdAt {AUTHOR} }} }} }}"


def posts_of_authors(number: int) -> str:
    nested = f"posts(limit: 100) {{ author {{ posts(limit: {100 - number % 2}) {{ id title }} }} }}"
    return f"{{ first: {nested} second: {nested} }}"


def counted_pages(number: int) -> str:
    """Return twenty pages in the order of changes, each of which is also counted."""
    page = f"totalCount edges {{ cursor node {{ {SCALARS} {AUTHOR} }} }}"
    return roots(20, f"postsConnection(first: {100 - number % 5}, orderBy: updatedAtAsc) {{ {page} }}")


def many_tokens(number: int) -> str:
    """Return a document with nearly as many tokens as a document may have."""
    fields = " ".join(chain.from_iterable(repeat(SCALARS.split(), 9)))
    return roots(20, f"post(id: {number}) {{ {fields} }}")


def repeated_introspection(number: int) -> str:
    """Return 30 aliases of introspection fields, named differently in every document."""
    types = " ".join(f"t{number}_{place}: types {{ {TYPE} }}" for place in range(5))
    return "{ " + " ".join(f"s{place}: __schema {{ {types} }}" for place in range(5)) + " }"


def standard_introspection(_: int) -> str:
    """Return what every tool sends, without the operation's name."""
    return get_introspection_query().partition("IntrospectionQuery")[2]


def roots(count: int, field: str) -> str:
    return "{ " + " ".join(f"r{place}: {field}" for place in range(count)) + " }"


EXPENSIVE: tuple[Callable[[int], str], ...] = (
    page_with_everything,
    repeated_introspection,
    posts_of_authors,
    many_tokens,
    counted_pages,
    standard_introspection,
)
