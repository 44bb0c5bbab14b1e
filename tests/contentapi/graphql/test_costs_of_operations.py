"""The cost of an operation, with and without variables. No test here uses the database."""

from typing import Any

import pytest
from graphql import OperationDefinitionNode, parse

from contentapi.graphql.costs import CostVisitor, OperationCost, measure_costs
from contentapi.schema import SCHEMA


def measure_cost(document: str) -> OperationCost:
    return measure_costs(SCHEMA, parse(document))[""]


@pytest.mark.parametrize(
    ("document", "label", "has_introspection", "is_only_introspection"),
    [
        ("{ __schema { description } }", "query __schema", True, True),
        ('{ __type(name: "Post") { name } }', "query __type", True, True),
        ('{ __typename __schema { description } a: __type(name: "Post") { name } }', "query several", True, True),
        ("{ ...F } fragment F on Query { __schema { description } }", "query __schema", True, True),
        ("mutation { __typename }", "mutation __typename", False, True),
        ("{ __schema { description } posts { id } }", "query several", True, False),
        ("{ __schema: posts { id } }", "query posts", False, False),
        ("{ posts { id } a: posts { id } }", "query posts", False, False),
    ],
)
def test_root_fields_decide_the_label_and_whether_there_is_introspection(
    document: str, label: str, *, has_introspection: bool, is_only_introspection: bool
) -> None:
    cost = measure_cost(document)

    assert cost.label == label
    assert cost.has_introspection is has_introspection
    assert cost.is_only_introspection is is_only_introspection


@pytest.mark.parametrize(
    ("default", "cost"),
    [
        ("-2147483648", 0),  # the longest Int
        ("2147483647", 100),
        ("99999999999", 100),
        ("100000000000", 10),  # longer: the default of another type's variable
    ],
)
def test_default_with_the_length_of_an_int_is_parsed(default: str, cost: int) -> None:
    assert measure_cost(f"query ($n: Int = {default}) {{ posts(limit: $n) {{ id }} }}").evaluate({}) == cost


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        ("{ posts { id } }", 10),
        ("{ posts(limit: 3) { author { id } } }", 6),
        ("{ postsConnection { totalCount } }", 11),
        ("{ posts(limit: 3) { oldSlugs } }", 33),
    ],
)
def test_cost_without_variables_is_a_constant(document: str, cost: int) -> None:
    total = measure_cost(document).total

    assert (total.constant, total.parts) == (cost, ())


def test_cost_with_variables_has_open_parts() -> None:
    total: Any = measure_cost("query ($n: Int) { posts(limit: $n) { id } post(id: 1) { id } }").total

    assert (total.constant, len(total.parts)) == (1, 1)


def test_repeated_fragment_is_visited_once() -> None:
    document = parse("{ ...F ... { ...G ...F } } fragment F on Query { ...G a: __typename } fragment G on Query { b }")
    [operation, *_] = document.definitions
    assert isinstance(operation, OperationDefinitionNode)

    fields = CostVisitor(SCHEMA, document).iterate_root_fields(operation.selection_set, set())

    assert [field.name.value for field in fields] == ["b", "__typename"]


@pytest.mark.parametrize(
    ("head", "filter_", "variables", "cost"),
    [
        ("", '{search: "kelp"}', {}, 501),
        ("", '{tag: "x", search: "kelp"}', {}, 501),
        ("", "{search: null}", {}, 1),
        ("", '{tag: "x"}', {}, 1),
        ("", "null", {}, 1),
        ("($s: String)", "{search: $s}", {}, 1),
        ("($s: String)", "{search: $s}", {"s": None}, 1),
        ("($s: String)", "{search: $s}", {"s": "kelp"}, 501),
        ('($s: String = "kelp")', "{search: $s}", {}, 501),
        ('($s: String = "kelp")', "{search: $s}", {"s": None}, 1),
        ("($f: PostFilter)", "$f", {"f": {"search": "kelp"}}, 501),
        ("($f: PostFilter)", "$f", {"f": {"search": None}}, 1),
        ("($f: PostFilter)", "$f", {"f": {"tag": "x"}}, 1),
        ("($f: PostFilter)", "$f", {"f": ["search"]}, 1),  # rejected later
        ('($f: PostFilter = {search: "kelp"})', "$f", {}, 501),
        ('($f: PostFilter = {search: "kelp"})', "$f", {"f": {"tag": "x"}}, 1),
        ("($f: PostFilter = {search: null})", "$f", {}, 1),
        ("($f: PostFilter = {tag: null})", "$f", {}, 1),
    ],
)
def test_search_costs_500_however_it_is_sent(head: str, filter_: str, variables: dict[str, Any], cost: int) -> None:
    document = f"query {head} {{ postsConnection(filter: {filter_}) {{ __typename }} }}"
    assert measure_cost(document).evaluate(variables) == cost


def test_each_search_of_an_operation_costs_500() -> None:
    searches = " ".join(f'a{number}: postsConnection(filter: {{search: "x"}}) {{ __typename }}' for number in range(20))
    assert measure_cost(f"{{ {searches} }}").evaluate({}) == 20 * 501
