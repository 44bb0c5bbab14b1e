"""An author has at most ten recipes that are not published."""

import pytest

from contentapi.core.identity import Role
from recipes.services import MAX_UNPUBLISHED
from tests.factories import make_actor, make_author
from tests.recipes.test_recipe import build_values
from tests.resources import send_request

pytestmark = pytest.mark.django_db
FULL = (409, "CONFLICT", "An author has at most 10 recipes that are not published.")


def test_author_has_ten_unpublished_recipes() -> None:
    actor = make_actor(Role.AUTHOR, author=make_author())
    made = [send_request("POST", "/recipes", build_values(), actor=actor) for _ in range(MAX_UNPUBLISHED)]
    assert {response.status for response in made} == {201}

    assert send_request("POST", "/recipes", build_values(), actor=actor).error == FULL
    assert send_request("POST", f"{made[0].headers['Location']}/publish", actor=actor).status == 200
    assert send_request("POST", "/recipes", build_values(), actor=actor).status == 201


def test_editor_gives_no_recipe_to_an_author_who_has_ten() -> None:
    author, editor = make_author(), make_actor(Role.EDITOR)
    named = {**build_values(), "authorId": str(author.pk)}
    for _ in range(MAX_UNPUBLISHED):
        assert send_request("POST", "/recipes", named, actor=editor).status == 201
    path = send_request("POST", "/recipes", build_values(), actor=editor).headers["Location"]

    assert send_request("PATCH", path, {"authorId": str(author.pk)}, actor=editor).error == FULL
    assert send_request("GET", path, actor=editor).body["author"] != {"id": str(author.pk)}
