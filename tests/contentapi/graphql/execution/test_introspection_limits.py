"""The limits of cost, size and fields apply to introspection."""

import msgspec
import pytest
from graphql import execute_sync, parse
from pytest_django import Settings

from contentapi.schema import SCHEMA
from tests.contentapi.graphql.execution.introspection_documents import count_objects
from tests.graphql_requests import PostToGraphQL, build_error_entry


def repeat(count: int, text: str) -> str:
    return " ".join(f"a{number}: {text}" for number in range(count))


TYPE = "{ kind name description fields { name description args { name type { name } } type { name } } }"
ATTACK = (
    f"{{ {repeat(5, '__schema { ...S }')} }} fragment S on __Schema {{ {repeat(5, 'types { ...T }')} }} "
    f"fragment T on __Type {TYPE}"
)


def set_limits(settings: Settings, **limits: int) -> None:
    named = {f"contentapi_max_{name}": value for name, value in limits.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **named)


@pytest.mark.django_db
def test_repeated_introspection_costs_every_object_up_to_the_limit(post: PostToGraphQL, settings: Settings) -> None:
    one = count_objects(execute_sync(SCHEMA, parse(f"{{ __schema {{ types {TYPE} }} }}")).data) - 2
    cost = 5 + 25 * one
    set_limits(settings, cost=cost)
    within = post({"query": ATTACK, "extensions": {"cost": True}})
    set_limits(settings, cost=cost - 1)

    response = post({"query": f"{ATTACK} # again"})

    assert (within.status, within.body["extensions"]) == (200, {"cost": cost})
    message = f"The query's cost is {cost}; at most {cost - 1} is allowed (CONTENTAPI_MAX_COST)."
    assert (response.status, response.body) == (
        400,
        {"errors": [build_error_entry(response, "LIMIT_EXCEEDED", 400, message)]},
    )


@pytest.mark.django_db
def test_limits_apply_to_a_cached_result(post: PostToGraphQL, settings: Settings) -> None:
    assert post({"query": ATTACK}).status == 200
    set_limits(settings, cost=100)

    response = post({"query": ATTACK})

    assert (response.status, response.codes) == (400, ["LIMIT_EXCEEDED"])


@pytest.mark.django_db
def test_too_many_visited_objects_stop_the_execution(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, cost=50)

    response = post({"query": "{ __schema { types { name fields { name } } } }"})

    message = "The query's cost is 51 or more; at most 50 is allowed (CONTENTAPI_MAX_COST)."
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

    response = post({"query": f"{{ {repeat(9, f'__schema {{ {selection} }}')} }}"})

    assert (response.status, response.codes, set(response.body)) == (400, ["LIMIT_EXCEEDED"], {"errors"})
    assert "(CONTENTAPI_MAX_RESPONSE)" in response.body["errors"][0]["message"]


@pytest.mark.django_db
def test_too_many_introspection_fields_are_rejected(post: PostToGraphQL, settings: Settings) -> None:
    set_limits(settings, fields=3)

    responses = [
        post({"query": f"{{ __schema {{ types {{ {fields} }} }} }}"})
        for fields in ("kind name", "kind name description")
    ]

    assert [response.status for response in responses] == [200, 400]
    assert "number of fields is 4 or more" in responses[1].body["errors"][0]["message"]
