"""Each limit of an operation, at its value and one above. No test here uses the database: see test_limits.py."""

import msgspec
import pytest
from graphql import OperationDefinitionNode, parse
from pytest_django import Settings

from contentapi.core.errors import LimitExceeded
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.limits import (
    COUNT_CAP,
    MAX_NESTING,
    OperationSize,
    build_limit_error,
    iterate_limited_counts,
    measure_operations,
    require_within_limits,
)


def check(document: str, operation_name: str | None = None) -> None:
    require_within_limits(measure_operations(parse(document)), operation_name)


def set_limit(settings: Settings, variable: str, most: int) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **{variable: most})


@pytest.mark.parametrize(
    ("variable", "what", "allowed", "refused"),
    [
        ("contentapi_max_depth", "depth", "{ a { b } }", "{ a { b { c } } }"),
        (
            "contentapi_max_introspection_depth",
            "depth of introspection",
            "{ __schema { a } }",
            "{ __schema { a { b } } }",
        ),
        ("contentapi_max_aliases", "number of aliases", "{ a: a b: b c }", "{ a: a b: b c: c }"),
        ("contentapi_max_mutations", "number of mutations", "mutation { a b }", "mutation { a b c }"),
        ("contentapi_max_root_fields", "number of root fields", "{ a b }", "{ a b c }"),
        ("contentapi_max_directives", "number of directives", "{ a @x @y }", "{ a @x @y @z }"),
    ],
)
def test_number_at_the_limit_passes_and_one_more_is_rejected(
    settings: Settings, variable: str, what: str, allowed: str, refused: str
) -> None:
    set_limit(settings, variable, 2)

    check(allowed)
    with pytest.raises(LimitExceeded) as raised:
        check(refused)

    assert raised.value.message == f"The query's {what} is 3; at most 2 is allowed ({variable.upper()})."


def test_limit_of_mutations_does_not_apply_to_a_query(settings: Settings) -> None:
    set_limit(settings, "contentapi_max_mutations", 2)

    check("{ a b c }")


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [("query", [1, 2, 3, 4, 5]), ("mutation", [1, 2, 3, 4, 4, 5]), ("mutation @atomic", [1, 2, 3, 4, 4, 5])],
)
def test_counts_are_in_a_fixed_order_and_only_writes_count_mutations(kind: str, numbers: list[int]) -> None:
    [node] = parse(f"{kind} {{ a }}").definitions
    assert isinstance(node, OperationDefinitionNode)

    found = list(
        iterate_limited_counts(
            node, OperationSize(depth=1, introspection_depth=2, aliases=3, root_fields=4, directives=5)
        )
    )

    assert [counted for _, counted, _ in found] == numbers


def nest_braces(number: int) -> str:
    return "{ ... " * (number - 1) + "{ a }" + " }" * (number - 1)


def test_nested_braces_are_limited() -> None:
    check(nest_braces(MAX_NESTING))
    with pytest.raises(LimitExceeded) as raised:
        check(nest_braces(MAX_NESTING + 1))

    assert (MAX_NESTING, raised.value.message) == (100, "The query's nesting is 101 or more; at most 100 is allowed.")


@pytest.mark.parametrize(
    "document",
    [
        f"query A {{ a }} query B {nest_braces(101)} query C {{ a }}",
        f"query A {{ ...F ... {{ ...F }} }} fragment F on Q {nest_braces(99)}",  # measured where it is allowed
        " ".join(["query A { ...F0 }", *(f"fragment F{number} on Q {{ ...F{number + 1} }}" for number in range(1500))]),
    ],
)
def test_nesting_of_every_operation_is_checked_before_one_is_selected(document: str) -> None:
    with pytest.raises(LimitExceeded, match=r"^The query's nesting is 101"):
        check(document, "A")


@pytest.mark.parametrize(
    ("document", "name", "is_refused"),
    [
        ("{ a b c }", None, True),
        ("{ a b c }", "", True),
        ("query A { a b c }", None, True),
        ("query A { a b c }", "", True),
        ("query A { a b c }", "A", True),
        ("query A { a b c }", "B", False),  # no operation is executed
        ("query A { a } query B { a b c }", "A", False),
        ("query A { a } query B { a b c }", "B", True),
        ("query A { a b c } query B { a b c }", None, False),
        ("query A { a b c } query B { a b c }", "C", False),
        ("{ a b c } query B { a }", None, True),
        ("{ a b c } query B { a }", "B", False),
        ("fragment F on Q { a b c }", None, False),
    ],
)
def test_only_the_executed_operation_is_limited(
    settings: Settings, document: str, name: str | None, *, is_refused: bool
) -> None:
    set_limit(settings, "contentapi_max_root_fields", 2)

    if is_refused:
        with pytest.raises(LimitExceeded, match="number of root fields is 3"):
            check(document, name)
    else:
        check(document, name)


@pytest.mark.parametrize(
    ("counted", "shown"),
    [
        (0, "0"),
        (COUNT_CAP - 1, "999999999999"),
        (COUNT_CAP, "1000000000000 or more"),
        (COUNT_CAP + 1, "1000000000000 or more"),
        ("5 or more", "5 or more"),
    ],
)
def test_number_above_the_cap_is_reported_as_the_cap_or_more(counted: int | str, shown: str) -> None:
    assert build_limit_error("size", counted, 5).message == f"The query's size is {shown}; at most 5 is allowed."


def test_cost_at_the_limit_passes_and_one_more_is_rejected(settings: Settings) -> None:
    set_limit(settings, "contentapi_max_cost", 40)

    require_cost_within_limit(40)
    with pytest.raises(LimitExceeded) as raised:
        require_cost_within_limit(41)

    assert raised.value.message == "The query's cost is 41; at most 40 is allowed (CONTENTAPI_MAX_COST)."


@pytest.mark.parametrize(
    ("variable", "repeated"),
    [
        ("contentapi_max_mutations", "a"),
        ("contentapi_max_aliases", "a { a: a }"),
        ("contentapi_max_root_fields", "a"),
    ],
)
def test_atomic_operation_has_a_limit_of_its_own(settings: Settings, variable: str, repeated: str) -> None:
    set_limit(settings, variable, 1)
    set_limit(settings, "contentapi_max_atomic_mutations", 3)
    with pytest.raises(LimitExceeded, match=rf"is 2; at most 1 is allowed \({variable.upper()}\)"):
        check(f"mutation {{ {repeated} {repeated} }}")

    check(f"mutation @atomic {{ {repeated} {repeated} {repeated} }}")
    with pytest.raises(LimitExceeded, match=r"is 4; at most 3 is allowed \(CONTENTAPI_MAX_ATOMIC_MUTATIONS\)"):
        check(f"mutation @atomic {{ {repeated} {repeated} {repeated} {repeated} }}")


def test_larger_limit_of_aliases_and_root_fields_applies_to_an_atomic_operation(settings: Settings) -> None:
    set_limit(settings, "contentapi_max_aliases", 4)
    set_limit(settings, "contentapi_max_atomic_mutations", 1)

    check("mutation @atomic { a { a: a b: b c: c d: d } }")
    with pytest.raises(LimitExceeded, match=r"at most 4 is allowed \(CONTENTAPI_MAX_ALIASES\)"):
        check("mutation @atomic { a { a: a b: b c: c d: d e: e } }")
