"""Reads of recipes on both transports: everybody sees those that are published."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from recipes.models import Recipe
from tests.recipes.rows import make_recipe

from contentapi.core.identity import Role, Scope
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_image, make_post
from tests.resources import send_request

pytestmark = pytest.mark.django_db
RECIPE = """query Recipe($id: ID!) { recipe(id: $id) {
  title servings course tags isVegan cover { id } related { id } author { name } version
} }"""


def test_recipe_has_its_columns_and_the_related_rows_that_the_caller_may_see(gql: GraphQL) -> None:
    image, post, draft = make_image(), make_post(), make_post(status="draft")
    recipe = make_recipe(
        published_at=timezone.now(), cover=image, related_ids=[draft.pk, post.pk], tags=["hot"], is_vegan=True
    )

    shown = gql(RECIPE, id=str(recipe.pk)).data["recipe"]
    of_editor = gql(RECIPE, id=str(recipe.pk), actor=make_actor(Role.EDITOR)).data["recipe"]

    assert shown == {
        "title": "Soup",
        "servings": 4,
        "course": "main",
        "tags": ["hot"],
        "isVegan": True,
        "cover": {"id": str(image.pk)},
        "related": [{"id": str(post.pk)}],
        "author": {"name": recipe.author.name},
        "version": "1",
    }
    assert of_editor["related"] == [{"id": str(draft.pk)}, {"id": str(post.pk)}]


@pytest.mark.parametrize(
    ("role", "expected"), [(None, 404), (Role.READER, 404), (Role.AUTHOR, 404), (Role.EDITOR, 200)]
)
def test_unpublished_recipe_is_404_to_those_who_may_not_know(gql: GraphQL, role: Role | None, expected: int) -> None:
    actor, recipe = role and make_actor(role), make_recipe()

    status = send_request("GET", f"/recipes/{recipe.pk}", actor=actor).status
    graph = gql(RECIPE, id=str(recipe.pk), actor=actor).data["recipe"]
    node = gql("query Q($id: ID!) { node(id: $id) { id } }", id=str(recipe.pk), actor=actor).data["node"]

    assert status == expected
    assert [graph is None, node is None] == [expected == 404] * 2


def test_author_sees_their_unpublished_recipe() -> None:
    author = make_author()
    actor, recipe = make_actor(Role.AUTHOR, author=author), make_recipe(author=author)
    make_recipe()

    page = send_request("GET", "/recipes", actor=actor).body["data"]

    assert [each["id"] for each in page] == [str(recipe.pk)]


@pytest.mark.parametrize(("scope", "status"), [(Scope.POSTS_READ, 404), (Scope("recipes:read"), 200)])
def test_unpublished_recipes_need_the_scope(scope: Scope, status: int) -> None:
    recipe = make_recipe()

    assert send_request("GET", f"/recipes/{recipe.pk}", actor=make_actor(Role.EDITOR, scopes={scope})).status == status


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["vegan", "other"]),
        ({"course": "main"}, ["other"]),
        ({"isVegan": True}, ["vegan"]),
        ({"isVegan": False}, []),
        ({"tag": "hot"}, ["vegan"]),
        ({"author": "7"}, []),
        ({"cover": "7"}, []),
    ],
)
def test_filters_select_the_same_rows_on_both_transports(gql: GraphQL, filters: Any, found: list[str]) -> None:
    make_recipe(title="other", published_at=timezone.now())
    make_recipe(title="vegan", published_at=timezone.now(), is_vegan=True, tags=["hot"], course="dessert")
    query = "query Q($f: RecipeFilter) { recipes(filter: $f) { totalCount edges { node { title } } } }"
    words = "&".join(f"{name}={str(value).lower()}" for name, value in filters.items())

    graph = gql(query, f=filters).data["recipes"]
    pages = [send_request("GET", f"/recipes?{words}{more}").body["data"] for more in ("", "&offset=0")]

    assert [edge["node"]["title"] for edge in graph["edges"]] == found
    assert graph["totalCount"] == len(found)
    assert [[each["title"] for each in page] for page in pages] == [found, found]


@pytest.mark.parametrize("query", ["course=soup", "isVegan=yes", "status=draft", f"tag={'x' * 1001}"])
def test_bad_filters_are_400(query: str) -> None:
    assert send_request("GET", f"/recipes?{query}").status == 400


@pytest.mark.parametrize("field", ["createdAt", "updatedAt", "publishedAt", "title"])
def test_pages_follow_each_other_in_each_order(gql: GraphQL, field: str) -> None:
    for title in "abc":
        make_recipe(title=title, published_at=timezone.now())
    query = """query Q($field: RecipeSortField!, $after: String) {
      recipes(first: 2, after: $after, orderBy: { field: $field, direction: desc }) {
        edges { node { title } } pageInfo { endCursor } } }"""

    first = gql(query, field=field).data["recipes"]
    second = gql(query, field=field, after=first["pageInfo"]["endCursor"]).data["recipes"]

    assert [edge["node"]["title"] for page in (first, second) for edge in page["edges"]] == ["c", "b", "a"]


def test_pages_of_rest_follow_each_other() -> None:
    for title in "abc":
        make_recipe(title=title, published_at=timezone.now())

    first = send_request("GET", "/recipes?limit=2").body
    second = send_request("GET", f"/recipes?limit=2&cursor={first['next_cursor']}").body

    assert [each["title"] for page in (first, second) for each in page["data"]] == ["c", "b", "a"]


@pytest.mark.parametrize(
    "query",
    ['{ recipe(id: "%s") { title author { name } } }', "{ recipes { edges { node { title author { name } } } } }"],
)
def test_recipe_and_a_page_with_authors_are_one_statement(
    client: Client, query: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    recipe, _ = (make_recipe(published_at=timezone.now()) for _ in range(2))
    body = {"query": query % recipe.pk if "%s" in query else query}

    with django_assert_num_queries(1):
        response = client.post("/graphql", body, content_type="application/json")

    assert "errors" not in response.json()


def test_entity_tag_of_a_recipe_is_not_modified() -> None:
    recipe = make_recipe(published_at=timezone.now())
    tag = send_request("GET", f"/recipes/{recipe.pk}").headers["ETag"]

    assert tag.startswith('"1-')
    assert send_request("GET", f"/recipes/{recipe.pk}", If_None_Match=tag).status == 304


def test_who_may_see_a_recipe_may_see_its_cover() -> None:
    image = make_image()
    make_recipe(cover=image)

    before = send_request("GET", f"/images/{image.pk}").status
    Recipe.objects.update(published_at=timezone.now())

    assert (before, send_request("GET", f"/images/{image.pk}").status) == (404, 200)


def test_deletion_of_a_used_image_is_a_conflict_unless_forced() -> None:
    image, admin = make_image(), make_actor(Role.ADMIN)
    recipe = make_recipe(cover=image, published_at=timezone.now())

    refused = send_request("DELETE", f"/images/{image.pk}", actor=admin)
    forced = send_request("DELETE", f"/images/{image.pk}?force=true", actor=admin)

    assert refused.status == 409
    assert "“Soup”" in refused.body["error"]
    assert forced.status == 204
    assert send_request("GET", f"/recipes/{recipe.pk}").body["cover"] is None
