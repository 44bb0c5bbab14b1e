"""Recipes: what each role may do, on both transports."""

import pytest

from contentapi.core.identity import Role
from recipes.models import Recipe
from tests.conftest import GraphQL
from tests.factories import make_actor
from tests.resources import send_request

pytestmark = pytest.mark.django_db
CREATE = "mutation ($input: CreateRecipeInput!) { createRecipe(input: $input) { recipe { id } } }"
READ = "query ($id: ID!) { recipe(id: $id) { id } }"


def make_recipe() -> Recipe:
    """Return a recipe that an admin has written."""
    made = send_request("POST", "/recipes", build_values(), actor=make_actor(Role.ADMIN))
    return Recipe.objects.get(pk=made.body["id"])


def build_values() -> dict[str, object]:
    return {"title": "text", "servings": 1, "steps": "text", "course": "starter"}


@pytest.mark.parametrize(
    ("role", "creation", "reading"),
    [
        (None, 401, 200),
        (Role.READER, 403, 200),
        (Role.AUTHOR, 201, 200),
        (Role.EDITOR, 201, 200),
        (Role.ADMIN, 201, 200),
    ],
)
def test_outcomes(gql: GraphQL, role: Role | None, creation: int, reading: int) -> None:
    actor = make_actor(role) if role else None
    path = f"/recipes/{make_recipe().pk}"
    assert send_request("POST", f"{path}/publish", actor=make_actor(Role.ADMIN)).status == 200

    assert send_request("POST", "/recipes", build_values(), actor=actor).status == creation
    assert ("errors" in gql(CREATE, actor=actor, input=build_values()).body) is (creation != 201)
    assert send_request("GET", path, actor=actor).status == reading
    assert ("errors" in gql(READ, actor=actor, id=path.rpartition("/")[2]).body) is (reading != 200)
    assert send_request("DELETE", path).status == 401
