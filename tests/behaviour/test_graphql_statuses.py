"""The status rule: 200 without an error, 294 with some data, otherwise the status of the worst error."""

from itertools import combinations

import pytest

from contentapi.core import errors
from contentapi.core.errors import PARTIAL_SUCCESS, ApiError
from contentapi.core.identity import Role
from contentapi.graphql.errors import WORST_FIRST
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_post

FAILING = {
    403: "updatePost(input: {id: $others, title: \"t\"}) { id }",
    404: "publishPost(id: 0) { id }",
    409: 'deletePost(id: $own, expectedVersion: "99")',
    422: 'createPost(input: {title: "", body: ""}) { id }',
}  # fmt: skip
FINE = "publishPost(id: $own) { id }"
SETS = [*combinations(FAILING, 1), (403, 409), (404, 422), tuple(FAILING)]


def execute_mutations(gql: GraphQL, fields: list[str]) -> tuple[int, list[int]]:
    """Execute mutations as the author of one of two posts. Return the status of the response and of each error."""
    author = make_author()
    own, others = make_post(author=author), make_post()
    document = " ".join(f"m{number}: {field}" for number, field in enumerate([*fields, "__typename @skip(if: true)"]))
    response = gql(
        f"mutation ($own: ID! = 0, $others: ID! = 0) {{ {document} own: publishPost(id: $own) @skip(if: true) {{ id }} "
        "others: publishPost(id: $others) @skip(if: true) { id } }",
        actor=make_actor(Role.AUTHOR, author=author),
        own=own.pk,
        others=others.pk,
    )
    return response.status, [error["extensions"]["status"] for error in response.body.get("errors", [])]


@pytest.mark.parametrize("statuses", SETS, ids=str)
def test_status_without_data_is_that_of_the_worst_error(gql: GraphQL, statuses: tuple[int, ...]) -> None:
    status, error_statuses = execute_mutations(gql, [FAILING[number] for number in reversed(statuses)])

    assert error_statuses == list(reversed(statuses))
    assert status == min(statuses, key=WORST_FIRST.index)


@pytest.mark.parametrize("statuses", [(422,), tuple(FAILING)], ids=str)
def test_status_with_some_data_is_294(gql: GraphQL, statuses: tuple[int, ...]) -> None:
    status, error_statuses = execute_mutations(gql, [*(FAILING[number] for number in statuses), FINE])

    assert (status, error_statuses) == (PARTIAL_SUCCESS, list(statuses))


def test_status_without_an_error_is_200(gql: GraphQL) -> None:
    assert execute_mutations(gql, [FINE]) == (200, [])


def test_worst_first_has_the_documented_order() -> None:
    assert WORST_FIRST == (500, 503, 429, 401, 403, 404, 409, 410, 413, 415, 422, 400)


def test_every_status_of_an_error_has_a_place_among_the_others() -> None:
    of_http = {405, 406}  # which no service raises
    statuses = {each.status for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ApiError)}

    assert statuses - of_http == {*WORST_FIRST}
