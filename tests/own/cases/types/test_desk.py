"""The pages of dishes in the desk."""

from typing import Any

import pytest
from dishes.models import Dish
from django.test import Client
from django.urls import reverse

from contentapi.core.identity import Role
from tests.admin_forms import get_form_errors, open_form, read_form, submit_form
from tests.factories import make_author, make_image, make_post, make_user
from tests.own.cases.types.rows import make_dish

LIST, ADD = reverse("admin:dishes_dish_changelist"), reverse("admin:dishes_dish_add")
VALUES = {"title": "Soup", "servings": "4", "steps": "Cook.\r\nEat.", "course": "main", "tags": "a\r\nb"}


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(make_user(Role.EDITOR))
    return client


def get_change_page(dish: Dish) -> str:
    return reverse("admin:dishes_dish_change", args=[dish.pk])


def test_editor_creates_a_dish(editor: Client) -> None:
    post, author, image = make_post(), make_author(), make_image()
    relations: dict[str, Any] = {
        "related_ids": [str(post.pk)],
        "author_id": str(author.pk),
        "cover_id": str(image.pk),
    }

    response = submit_form(editor, ADD, **VALUES, **relations, is_vegan="true")

    assert response.status_code == 302, get_form_errors(response)
    dish = Dish.objects.get()
    assert (dish.title, dish.steps, dish.tags, dish.is_vegan) == ("Soup", "Cook.\nEat.", ["a", "b"], True)
    assert (dish.related_ids, dish.author, dish.cover) == ([post.pk], author, image)


def test_form_that_changes_nothing_keeps_all_values(editor: Client) -> None:
    dish = make_dish(tags=["a"], related_ids=[make_post().pk], cover=make_image(), is_vegan=False)
    before = Dish.objects.values().get()

    response = submit_form(editor, get_change_page(dish))

    assert response.status_code == 302
    assert Dish.objects.values().get() == before


def test_limits_are_errors_beside_the_field(editor: Client) -> None:
    response = submit_form(editor, get_change_page(make_dish()), servings="101")

    assert (response.status_code, [*get_form_errors(response)]) == (200, ["servings"])


def test_older_form_shows_a_notice_and_can_then_be_saved(editor: Client) -> None:
    dish = make_dish()
    page = get_change_page(dish)
    opened = open_form(editor, page)
    submit_form(editor, page, title="Theirs")

    conflict = editor.post(page, {**opened, "title": "Mine"})
    before = Dish.objects.get().title
    editor.post(page, read_form(conflict.text))

    assert "Somebody has changed this dish since you opened it." in conflict.text
    assert (before, Dish.objects.get().title, Dish.objects.get().version) == ("Theirs", "Mine", 3)


def test_buttons_publish_and_unpublish(editor: Client) -> None:
    dish = make_dish()
    states = []

    for name in ("publish", "unpublish"):
        submit_form(editor, reverse("admin:dishes_dish_action", args=[dish.pk, name]))
        states.append(Dish.objects.get().published_at is not None)

    assert states == [True, False]


def test_editor_deletes_a_dish(editor: Client) -> None:
    dish = make_dish()

    editor.post(reverse("admin:dishes_dish_delete", args=[dish.pk]), {"post": "yes"})

    assert not Dish.objects.exists()


def test_list_has_a_search_filters_orders_and_an_entry_in_the_sidebar(editor: Client) -> None:
    dish = make_dish(title="Älg soup", is_vegan=True)
    filters = {
        "course__exact": "main",
        "is_vegan__exact": "1",
        "publication": "draft",
        "author__id__exact": dish.author_id,
    }

    shown = editor.get(LIST, {"q": "alg", "o": "-1", **filters})

    assert "Älg soup" in shown.text
    assert LIST in [item["link"] for group in shown.context["sidebar_navigation"] for item in group["items"]]
    assert "Älg soup" not in editor.get(LIST, {"q": "alg", "course__exact": "dessert"}).text


def test_field_suggests_the_rows_that_it_can_name(editor: Client) -> None:
    make_post(title="Boats", status="draft")
    page = reverse("admin:dishes_dish_choose", args=["related"])

    found = [editor.get(page, {"term": term}).json()["results"] for term in ("", "nothing")]

    assert [[each["text"] for each in results] for results in found] == [["Boats"], []]


def test_only_relations_have_suggestions(editor: Client) -> None:
    addresses = [reverse("admin:dishes_dish_choose", args=[name]) for name in ("title", "unknown")]

    assert [editor.get(address).status_code for address in addresses] == [404, 404]


def test_author_has_their_own_dishes_only(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    client.force_login(user)
    mine, other = make_dish(author=make_author(user=user), title="Mine"), make_dish(title="Others")

    listed = client.get(LIST).text
    form = client.get(get_change_page(mine)).text

    assert "Mine" in listed
    assert "Others" not in listed
    assert "author_id" not in form
    assert client.get(get_change_page(other)).status_code == 404
    assert client.get(reverse("admin:dishes_dish_choose", args=["author"])).status_code == 404


def test_new_dish_of_an_author_is_their_own(client: Client) -> None:
    user = make_user(Role.AUTHOR)
    client.force_login(user)

    submit_form(client, ADD, **VALUES)

    assert Dish.objects.get().author.user == user
