"""The limit of the cost of an operation, and the cost in the response."""

from typing import Any

import msgspec
import pytest
from pytest_django import Settings

from tests.conftest import GraphQL
from tests.graphql_requests import PostToGraphQL

# --- At the endpoint ------------------------------------------------------------------------------------


def most(settings: Settings, cost: int) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_max_cost=cost)


def test_one_more_level_is_rejected_with_cost_and_limit(gql: GraphQL) -> None:
    response = gql("{ posts(limit: 100) { comments { author { posts { id } } } author { name } } }")

    assert (response.status, response.codes) == (400, ["LIMIT_EXCEEDED"])
    assert response.body["errors"][0]["message"] == (
        f"The query's cost is {100 * (2 + 100 * (2 + 10))}; at most 25000 is allowed (CONTENTAPI_MAX_COST)."
    )
    assert "data" not in response.body


def test_cost_at_the_limit_passes_and_variables_count_each_time(gql: GraphQL, settings: Settings) -> None:
    most(settings, 14)
    document = "query ($n: Int) { posts(limit: $n) { author { id } } }"

    assert [gql(document, n=n).status for n in (7, 8, 7)] == [200, 400, 200]


def test_operation_over_the_cost_limit_is_not_executed(
    gql: GraphQL, settings: Settings, django_assert_num_queries: Any
) -> None:
    most(settings, 1)

    with django_assert_num_queries(0):
        assert gql("{ posts { id } }").codes == ["LIMIT_EXCEEDED"]


@pytest.mark.parametrize("asked", [{"cost": True}, {"cost": True, "other": 1}])
def test_cost_is_in_the_response_when_requested(post: PostToGraphQL, asked: dict[str, Any]) -> None:
    response = post({"query": "{ posts(limit: 3) { author { id } } }", "extensions": asked})

    assert response.body == {"data": {"posts": []}, "extensions": {"cost": 6}}
    assert list(response.body) == ["data", "extensions"]


@pytest.mark.parametrize("asked", [None, {}, {"cost": False}, {"cost": 1}, {"cost": "true"}])
def test_cost_is_not_in_the_response_otherwise(post: PostToGraphQL, asked: dict[str, Any] | None) -> None:
    response = post({"query": "{ posts(limit: 3) { author { id } } }", "extensions": asked})

    assert response.body == {"data": {"posts": []}}


def test_cost_is_in_the_response_to_a_failed_operation(post: PostToGraphQL) -> None:
    response = post({"query": "{ post(id: 1) { id } posts(limit: 0) { id } }", "extensions": {"cost": True}})

    assert (response.status, response.body["extensions"]) == (400, {"cost": 1})
