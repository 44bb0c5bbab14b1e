"""The limits of cost, size and fields of the result apply to introspection."""

import msgspec
import pytest
from graphql import execute_sync, get_introspection_query, parse
from pytest_django import Settings

from contentapi.graphql.execution import introspection
from contentapi.schema import SCHEMA
from tests.contentapi.graphql.execution.introspection_documents import count_fields, count_objects
from tests.graphql_requests import PostToGraphQL, build_error_entry


def repeat(count: int, text: str) -> str:
    return " ".join(f"a{number}: {text}" for number in range(count))


TYPE = "{ kind name description fields { name description args { name type { name } } type { name } } }"


def build_document(aliases: int) -> str:
    """Return a document that selects all types four times under each alias of `__schema`."""
    schemas, types = repeat(aliases, "__schema { ...S }"), repeat(4, "types { ...T }")
    return f"{{ {schemas} }} fragment S on __Schema {{ {types} }} fragment T on __Type {TYPE}"


FOUR_TIMES = build_document(1)
ATTACK = build_document(6)


def set_limits(settings: Settings, **limits: int) -> None:
    named = {f"contentapi_max_{name}": value for name, value in limits.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **named)


@pytest.mark.django_db
def test_repeated_introspection_costs_every_object_up_to_the_limit(post: PostToGraphQL, settings: Settings) -> None:
    one = count_objects(execute_sync(SCHEMA, parse(f"{{ __schema {{ types {TYPE} }} }}")).data) - 2
    cost = 1 + 4 * one
    set_limits(settings, cost=cost)
    within = post({"query": FOUR_TIMES, "extensions": {"cost": True}})
    set_limits(settings, cost=cost - 1)

    response = post({"query": f"{FOUR_TIMES} # again"})

    assert (within.status, within.body["extensions"]) == (200, {"cost": cost})
    message = f"The query's cost is {cost}; at most {cost - 1} is allowed (CONTENTAPI_MAX_COST)."
    assert (response.status, response.body) == (
        400,
        {"errors": [build_error_entry(response, "LIMIT_EXCEEDED", 400, message)]},
    )


@pytest.mark.django_db
def test_limits_apply_to_a_cached_result(post: PostToGraphQL, settings: Settings) -> None:
    assert post({"query": FOUR_TIMES}).status == 200
    set_limits(settings, cost=100)

    response = post({"query": FOUR_TIMES})

    assert (response.status, response.codes) == (400, ["LIMIT_EXCEEDED"])


@pytest.mark.django_db
def test_too_many_fields_of_the_result_stop_the_execution(post: PostToGraphQL) -> None:
    response = post({"query": ATTACK})

    most = introspection.MAX_INTROSPECTED_FIELDS
    message = f"The query's number of introspected fields is {most + 1} or more; at most {most} is allowed."
    assert (response.status, response.body) == (
        400,
        {"errors": [build_error_entry(response, "LIMIT_EXCEEDED", 400, message)]},
    )


@pytest.mark.django_db
@pytest.mark.parametrize("selection", ["types { name description }", f"types {TYPE}"])
def test_introspection_result_over_the_size_limit_is_rejected(
    post: PostToGraphQL, settings: Settings, selection: str
) -> None:
    set_limits(settings, response=10_000)

    response = post({"query": f"{{ {repeat(5, f'__schema {{ {selection} }}')} }}"})

    assert (response.status, response.codes, set(response.body)) == (400, ["LIMIT_EXCEEDED"], {"errors"})
    assert "(CONTENTAPI_MAX_RESPONSE)" in response.body["errors"][0]["message"]


def test_limit_of_fields_is_twice_the_standard_document() -> None:
    """A schema that grows beyond this needs a higher limit."""
    options = ("specified_by_url", "directive_is_repeatable", "schema_description", "input_value_deprecation", "one_of")
    found = execute_sync(SCHEMA, parse(get_introspection_query(**dict.fromkeys(options, True))))

    assert 2 * count_fields(found.data) <= introspection.MAX_INTROSPECTED_FIELDS
