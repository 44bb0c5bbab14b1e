"""The most expensive documents that an anonymous client may send. Each text is new to the server."""

import json
from collections.abc import Callable, Sequence

from graphql import get_introspection_query

Kind = Callable[[int], str]  # from a number to a document, without the operation's name

LARGE_TAG = "hostile-large"  # of the posts whose bodies make up a response of 2 MB

SCALARS = "id title body status createdAt updatedAt publishAt tags version commentCount"
AUTHOR = "author { id name bio avatarUrl email }"
OF_TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }"
DESCRIBED_TYPE = (
    f"fragment T on __Type {{ kind name description fields {{ name description args {{ ...V }} type {{ {OF_TYPE} }} }}"
    " inputFields { ...V } enumValues { name description } }"
    f" fragment V on __InputValue {{ name description type {{ {OF_TYPE} }} defaultValue }}"
)


def encode(document: str) -> bytes:
    return json.dumps({"query": document}).encode()


def make_document(kinds: Sequence[Kind], number: int) -> str:
    """Return the document with this number, of each kind in turn. No two numbers give the same text."""
    return f"query q{number} {kinds[number % len(kinds)](number)}"


def large_response() -> str:
    """Return a query whose response has 2 MB."""
    return f'{{ postsConnection(first: 20, filter: {{tag: "{LARGE_TAG}"}}) {{ edges {{ node {{ body }} }} }} }}'


def page_with_everything(_: int) -> str:
    return f"{{ posts(limit: 100) {{ {SCALARS} {AUTHOR} comments(limit: 100) {{ id body createdAt {AUTHOR} }} }} }}"


def posts_of_authors(number: int) -> str:
    nested = f"posts(limit: 100) {{ author {{ posts(limit: {100 - number % 2}) {{ id title }} }} }}"
    return f"{{ first: {nested} second: {nested} }}"


def counted_pages(number: int) -> str:
    """Return twenty pages ordered by the time of the last change, each with its total count."""
    page = f"totalCount edges {{ cursor node {{ {SCALARS} {AUTHOR} }} }}"
    return repeat_field(20, f"postsConnection(first: {100 - number % 5}, orderBy: updatedAtAsc) {{ {page} }}")


def many_tokens(number: int) -> str:
    """Return a document close to the limit of tokens, within the limit of comparisons in validation."""
    scalars, author = " ".join([SCALARS] * 4), "author { " + "id name bio avatarUrl " * 5 + "}"
    comments = f"comments {{ {'id body createdAt ' * 4} {author} }}"
    return repeat_field(17, f"post(id: {number}) {{ {scalars} {author} {comments} }}")


def repeated_introspection(number: int) -> str:
    """Return 30 aliases of introspection fields, named differently in every document."""
    types = " ".join(f"t{number}_{place}: types {{ ...T }}" for place in range(5))
    return repeat_field(5, f"__schema {{ {types} }}") + DESCRIBED_TYPE


def standard_introspection(_: int) -> str:
    """Return the introspection document that tools send, without the operation's name."""
    return get_introspection_query().partition("IntrospectionQuery")[2]


def repeat_field(count: int, field: str) -> str:
    return "{ " + " ".join(f"r{place}: {field}" for place in range(count)) + " }"


PAGES: Sequence[Kind] = (page_with_everything, posts_of_authors, counted_pages)
INTROSPECTION: Sequence[Kind] = (repeated_introspection, standard_introspection)
LONG: Sequence[Kind] = (many_tokens,)
EXPENSIVE: Sequence[Kind] = (*PAGES, *INTROSPECTION, *LONG)
