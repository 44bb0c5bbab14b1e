"""An author has at most ten recipes that are not published."""

import pytest
from django.urls import reverse

from contentapi.core.identity import Actor, Role
from recipes.models import Recipe
from recipes.services import MAX_UNPUBLISHED
from tests.admin_forms import log_in, submit_form
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_user
from tests.recipes.test_recipe import CREATE, build_values
from tests.resources import send_request

pytestmark = pytest.mark.django_db
FULL = (409, "CONFLICT", "An author has at most 10 recipes that are not published.")
ATOMIC = CREATE.replace(" {", " @atomic {", 1)


def fill(actor: Actor) -> str:
    """Create as many recipes as an author may have unpublished, beside a published one. Return the path of that."""
    paths = [create(actor) for _ in range(MAX_UNPUBLISHED)]
    assert send_request("POST", f"{paths[0]}/publish", actor=actor).status == 200
    create(actor)
    return paths[0]


def create(actor: Actor) -> str:
    response = send_request("POST", "/recipes", build_values(), actor=actor)
    assert response.status == 201
    return str(response.headers["Location"])


def count_unpublished() -> int:
    return Recipe.objects.filter(published_at=None).count()


def test_author_has_ten_unpublished_recipes(gql: GraphQL) -> None:
    actor = make_actor(Role.AUTHOR, author=make_author())
    fill(actor)

    assert send_request("POST", "/recipes", build_values(), actor=actor).error == FULL
    assert gql(ATOMIC, input=build_values(), actor=actor).codes == ["CONFLICT"]
    assert count_unpublished() == MAX_UNPUBLISHED


def test_editor_gives_no_unpublished_recipe_to_an_author_who_has_ten() -> None:
    author, editor = make_author(), make_actor(Role.EDITOR)
    published, path = fill(make_actor(Role.AUTHOR, author=author)), create(editor)
    other = send_request("GET", create(editor), actor=editor).body["author"]["id"]

    assert send_request("PATCH", path, {"authorId": str(author.pk)}, actor=editor).error == FULL
    assert send_request("GET", path, actor=editor).body["author"] == {"id": other}
    assert send_request("PATCH", published, {"authorId": other}, actor=editor).status == 200


def test_nobody_unpublishes_a_recipe_of_an_author_who_has_ten(gql: GraphQL) -> None:
    author = make_actor(Role.AUTHOR, author=make_author())
    path, editor = fill(author), make_user(Role.EDITOR)
    pk = path.rpartition("/")[2]
    unpublish = "mutation ($input: UnpublishRecipeInput!) { unpublishRecipe(input: $input) { recipe { id } } }"

    assert send_request("POST", f"{path}/unpublish", actor=author).error == FULL
    assert gql(unpublish, input={"id": pk}, actor=make_actor(Role.EDITOR)).codes == ["CONFLICT"]
    submit_form(log_in(editor), reverse("admin:recipes_recipe_action", args=[pk, "unpublish"]))
    assert count_unpublished() == MAX_UNPUBLISHED
