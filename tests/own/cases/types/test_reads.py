"""Reads of dishes on both transports: everybody sees those that are published."""

from typing import Any

import pytest
from dishes.models import Dish
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from contentapi.core.identity import Role, Scope
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_image, make_post
from tests.own.cases.types.rows import make_dish
from tests.resources import send_request

DISH = """query Dish($id: ID!) { dish(id: $id) {
  title servings course tags isVegan cover { id } related { id } author { name } version
} }"""


def test_dish_has_its_columns_and_the_related_rows_that_the_caller_may_see(gql: GraphQL) -> None:
    image, post, draft = make_image(), make_post(), make_post(status="draft")
    dish = make_dish(
        published_at=timezone.now(), cover=image, related_ids=[draft.pk, post.pk], tags=["hot"], is_vegan=True
    )

    shown = gql(DISH, id=str(dish.pk)).data["dish"]
    of_editor = gql(DISH, id=str(dish.pk), actor=make_actor(Role.EDITOR)).data["dish"]

    assert shown == {
        "title": "Soup",
        "servings": 4,
        "course": "main",
        "tags": ["hot"],
        "isVegan": True,
        "cover": {"id": str(image.pk)},
        "related": [{"id": str(post.pk)}],
        "author": {"name": dish.author.name},
        "version": "1",
    }
    assert of_editor["related"] == [{"id": str(draft.pk)}, {"id": str(post.pk)}]


@pytest.mark.parametrize(
    ("role", "expected"), [(None, 404), (Role.READER, 404), (Role.AUTHOR, 404), (Role.EDITOR, 200)]
)
def test_unpublished_dish_is_404_to_those_who_may_not_know(gql: GraphQL, role: Role | None, expected: int) -> None:
    actor, dish = role and make_actor(role), make_dish()

    status = send_request("GET", f"/dishes/{dish.pk}", actor=actor).status
    graph = gql(DISH, id=str(dish.pk), actor=actor).data["dish"]
    node = gql("query Q($id: ID!) { node(id: $id) { id } }", id=str(dish.pk), actor=actor).data["node"]

    assert status == expected
    assert [graph is None, node is None] == [expected == 404] * 2


def test_author_sees_their_unpublished_dish() -> None:
    author = make_author()
    actor, dish = make_actor(Role.AUTHOR, author=author), make_dish(author=author)
    make_dish()

    page = send_request("GET", "/dishes", actor=actor).body["data"]

    assert [each["id"] for each in page] == [str(dish.pk)]


@pytest.mark.parametrize(("scope", "status"), [(Scope.POSTS_READ, 404), (Scope("dishes:read"), 200)])
def test_unpublished_dishes_need_the_scope(scope: Scope, status: int) -> None:
    dish = make_dish()

    assert send_request("GET", f"/dishes/{dish.pk}", actor=make_actor(Role.EDITOR, scopes={scope})).status == status


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["vegan", "other"]),
        ({"course": "main"}, ["other"]),
        ({"isVegan": True}, ["vegan"]),
        ({"isVegan": False}, []),
        ({"tag": "hot"}, ["vegan"]),
        ({"author": "1000000"}, []),
        ({"cover": "1000000"}, []),
    ],
)
def test_filters_select_the_same_rows_on_both_transports(gql: GraphQL, filters: Any, found: list[str]) -> None:
    make_dish(title="other", published_at=timezone.now())
    make_dish(title="vegan", published_at=timezone.now(), is_vegan=True, tags=["hot"], course="dessert")
    query = "query Q($f: DishFilter) { dishes(filter: $f) { totalCount edges { node { title } } } }"
    words = "&".join(f"{name}={str(value).lower()}" for name, value in filters.items())

    graph = gql(query, f=filters).data["dishes"]
    pages = [send_request("GET", f"/dishes?{words}{more}").body["data"] for more in ("", "&offset=0")]

    assert [edge["node"]["title"] for edge in graph["edges"]] == found
    assert graph["totalCount"] == len(found)
    assert [[each["title"] for each in page] for page in pages] == [found, found]


@pytest.mark.parametrize("query", ["course=soup", "isVegan=yes", "status=draft", f"tag={'x' * 1001}"])
def test_bad_filters_are_400(query: str) -> None:
    assert send_request("GET", f"/dishes?{query}").status == 400


@pytest.mark.parametrize("field", ["createdAt", "updatedAt", "publishedAt", "title"])
def test_pages_follow_each_other_in_each_order(gql: GraphQL, field: str) -> None:
    for title in "abc":
        make_dish(title=title, published_at=timezone.now())
    query = """query Q($field: DishSortField!, $after: String) {
      dishes(first: 2, after: $after, orderBy: { field: $field, direction: desc }) {
        edges { node { title } } pageInfo { endCursor } } }"""

    first = gql(query, field=field).data["dishes"]
    second = gql(query, field=field, after=first["pageInfo"]["endCursor"]).data["dishes"]

    assert [edge["node"]["title"] for page in (first, second) for edge in page["edges"]] == ["c", "b", "a"]


def test_pages_of_rest_follow_each_other() -> None:
    for title in "abc":
        make_dish(title=title, published_at=timezone.now())

    first = send_request("GET", "/dishes?limit=2").body
    second = send_request("GET", f"/dishes?limit=2&cursor={first['next_cursor']}").body

    assert [each["title"] for page in (first, second) for each in page["data"]] == ["c", "b", "a"]


@pytest.mark.parametrize(
    "query",
    ['{ dish(id: "%s") { title author { name } } }', "{ dishes { edges { node { title author { name } } } } }"],
)
def test_dish_and_a_page_with_authors_are_one_statement(
    client: Client, query: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    dish, _ = (make_dish(published_at=timezone.now()) for _ in range(2))
    body = {"query": query % dish.pk if "%s" in query else query}

    with django_assert_num_queries(1):
        response = client.post("/graphql", body, content_type="application/json")

    assert "errors" not in response.json()


def test_entity_tag_of_a_dish_is_not_modified() -> None:
    dish = make_dish(published_at=timezone.now())
    tag = send_request("GET", f"/dishes/{dish.pk}").headers["ETag"]

    assert tag.startswith('"1-')
    assert send_request("GET", f"/dishes/{dish.pk}", If_None_Match=tag).status == 304


def test_who_may_see_a_dish_may_see_its_cover() -> None:
    image = make_image()
    make_dish(cover=image)

    before = send_request("GET", f"/images/{image.pk}").status
    Dish.objects.update(published_at=timezone.now())

    assert (before, send_request("GET", f"/images/{image.pk}").status) == (404, 200)


def test_deletion_of_a_used_image_is_a_conflict_unless_forced() -> None:
    image, admin = make_image(), make_actor(Role.ADMIN)
    dish = make_dish(cover=image, published_at=timezone.now())

    refused = send_request("DELETE", f"/images/{image.pk}", actor=admin)
    forced = send_request("DELETE", f"/images/{image.pk}?force=true", actor=admin)

    assert refused.status == 409
    assert "“Soup”" in refused.body["error"]
    assert forced.status == 204
    assert send_request("GET", f"/dishes/{dish.pk}").body["cover"] is None
