"""The pages of recipes in the desk."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from recipes.models import Recipe
from tests.recipes.rows import make_recipe

from contentapi.core.identity import Role
from tests.admin_forms import get_form_errors, read_form, submit_form
from tests.factories import make_author, make_image, make_post, make_user

pytestmark = pytest.mark.django_db
LIST, ADD = reverse("admin:recipes_recipe_changelist"), reverse("admin:recipes_recipe_add")
VALUES = {"title": "Soup", "servings": "4", "steps": "Cook.\r\nEat.", "course": "main", "tags": "a\r\nb"}


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(make_user(Role.EDITOR))
    return client


def get_change_page(recipe: Recipe) -> str:
    return reverse("admin:recipes_recipe_change", args=[recipe.pk])


def test_editor_creates_a_recipe(editor: Client) -> None:
    post, author, image = make_post(), make_author(), make_image()
    relations: dict[str, Any] = {
        "related_ids": [str(post.pk)],
        "author_id": str(author.pk),
        "cover_id": str(image.pk),
    }

    response = submit_form(editor, ADD, **VALUES, **relations, is_vegan="true")

    assert response.status_code == 302, get_form_errors(response)
    recipe = Recipe.objects.get()
    assert (recipe.title, recipe.steps, recipe.tags, recipe.is_vegan) == ("Soup", "Cook.\nEat.", ["a", "b"], True)
    assert (recipe.related_ids, recipe.author, recipe.cover) == ([post.pk], author, image)


def test_form_that_changes_nothing_keeps_all_values(editor: Client) -> None:
    recipe = make_recipe(tags=["a"], related_ids=[make_post().pk], cover=make_image(), is_vegan=False)
    before = Recipe.objects.values().get()

    response = submit_form(editor, get_change_page(recipe))

    assert response.status_code == 302
    assert Recipe.objects.values().get() == before


def test_limits_are_errors_beside_the_field(editor: Client) -> None:
    response = submit_form(editor, get_change_page(make_recipe()), servings="101")

    assert (response.status_code, [*get_form_errors(response)]) == (200, ["servings"])


def test_older_form_shows_a_notice_and_can_then_be_saved(editor: Client) -> None:
    recipe = make_recipe()
    page = get_change_page(recipe)
    opened = read_form(editor.get(page).text)
    submit_form(editor, page, title="Theirs")

    conflict = editor.post(page, {**opened, "title": "Mine"})
    before = Recipe.objects.get().title
    editor.post(page, read_form(conflict.text))

    assert "Somebody has changed this recipe since you opened it." in conflict.text
    assert (before, Recipe.objects.get().title, Recipe.objects.get().version) == ("Theirs", "Mine", 3)


def test_buttons_publish_and_unpublish(editor: Client) -> None:
    recipe = make_recipe()
    states = []

    for name in ("publish", "unpublish"):
        editor.post(reverse("admin:recipes_recipe_action", args=[recipe.pk, name]))
        states.append(Recipe.objects.get().published_at is not None)

    assert states == [True, False]


def test_editor_deletes_a_recipe(editor: Client) -> None:
    recipe = make_recipe()

    editor.post(reverse("admin:recipes_recipe_delete", args=[recipe.pk]), {"post": "yes"})

    assert not Recipe.objects.exists()


@pytest.mark.parametrize(
    "query",
    ["q=alg", "course__exact=main", "is_vegan__exact=1", "publication=draft", "author__id__exact={author}", "o=-1"],
)
def test_list_has_a_search_filters_and_orders(editor: Client, query: str) -> None:
    recipe = make_recipe(title="Älg soup", is_vegan=True)

    shown = editor.get(f"{LIST}?{query.format(author=recipe.author_id)}")

    assert shown.status_code == 200
    assert "Älg soup" in shown.text


def test_list_is_in_the_sidebar(editor: Client) -> None:
    assert LIST in editor.get(reverse("admin:index")).text


def test_field_suggests_the_rows_that_it_can_name(editor: Client) -> None:
    make_post(title="Boats", status="draft")
    page = reverse("admin:recipes_recipe_choose", args=["related"])

    found = [editor.get(page, {"term": term}).json()["results"] for term in ("", "nothing")]

    assert [[each["text"] for each in results] for results in found] == [["Boats"], []]


@pytest.mark.parametrize("name", ["title", "unknown"])
def test_only_relations_have_suggestions(editor: Client, name: str) -> None:
    assert editor.get(reverse("admin:recipes_recipe_choose", args=[name])).status_code == 404


def test_author_has_their_own_recipes_only(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    client.force_login(user)
    mine, other = make_recipe(author=make_author(user=user), title="Mine"), make_recipe(title="Others")

    listed = client.get(LIST).text
    form = client.get(get_change_page(mine)).text

    assert "Mine" in listed
    assert "Others" not in listed
    assert "author_id" not in form
    assert client.get(get_change_page(other)).status_code == 404
    assert client.get(reverse("admin:recipes_recipe_choose", args=["author"])).status_code == 404


def test_new_recipe_of_an_author_is_their_own(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    client.force_login(user)

    submit_form(client, ADD, **VALUES)

    assert Recipe.objects.get().author.user == user
