"""The documents of `make hostile` must be within the limits: a rejected document costs nothing."""

import pytest
from graphql import parse, validate

from benchmarks.hostile.documents import EXPENSIVE, Kind, large_response, make_document
from contentapi.graphql.limits import measure_operations, require_within_limits
from contentapi.schema import SCHEMA


@pytest.mark.parametrize("kind", EXPENSIVE)
def test_expensive_document_is_valid_and_within_the_structural_limits(kind: Kind) -> None:
    document = parse(make_document([kind], 7), max_lexical_tokens=2000)

    assert validate(SCHEMA, document) == []
    require_within_limits(measure_operations(document), None)


@pytest.mark.parametrize("kind", EXPENSIVE)
def test_two_requests_of_one_kind_have_different_texts(kind: Kind) -> None:
    assert make_document([kind], 1) != make_document([kind], 2)


def test_clients_loop_over_every_kind() -> None:
    texts = [make_document(EXPENSIVE, number) for number in range(len(EXPENSIVE))]

    assert texts == [make_document([kind], number) for number, kind in enumerate(EXPENSIVE)]


def test_query_for_the_large_response_is_valid() -> None:
    assert validate(SCHEMA, parse(large_response())) == []
