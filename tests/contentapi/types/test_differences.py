"""What the model of a type must have, or the server does not start."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.test.utils import isolate_apps

from blog.models import Comment
from contentapi.types import differences
from contentapi.types.columns import list_event_names
from contentapi.types.declared import read_own_types
from contentapi.types.differences import (
    check_own_types,
    is_same,
    list_column_differences,
    list_differences,
    list_event_differences,
    list_index_differences,
    list_missing_members,
    list_rule_differences,
    list_trigger_differences,
    require_equal_models,
    require_known_members,
)
from contentapi.types.fields import Kind, OwnField, OwnType, SdlError
from contentapi.types.generation import render, write_models, write_sdl
from tests.contentapi.types.sdl import RECIPE, RELATED, write_schema

WITHOUT_RELATIONS = (
    RECIPE.replace("cover: Image\n", "rating: Float")
    .replace("related: [Post!]!", "isVegan: Boolean")
    .replace("author: Author!", "eatenAt: DateTime")
    .replace("write: author", "write: editor")
)
TARGETS = {"Author": {"model": "blog.Author"}}


@pytest.fixture
def recipe(tmp_path: Path) -> OwnType:
    """Return a type with the SDL and the fragment that `start_type` writes."""
    (own,) = read_own_types(write_schema(tmp_path, WITHOUT_RELATIONS), RELATED)
    own.file.write_text(WITHOUT_RELATIONS + write_sdl(own))
    (own.file.parent / "resources").mkdir()
    (own.file.parent / "resources" / "recipe.graphql").write_text(render("fragment.graphql", own))
    return own


@pytest.fixture
def model(recipe: OwnType) -> type[models.Model]:
    return build_model(recipe)


def build_model(own: OwnType) -> type[models.Model]:
    """Return the model that `start_type` writes. No other code sees it."""
    scope: dict[str, Any] = {"__name__": "orders.recipes"}
    with isolate_apps("orders"):
        exec(write_models(own, {}), scope)  # noqa: S102 - the code that is tested
    found: type[models.Model] = scope["Recipe"]
    return found


def change_field(own: OwnType, name: str, /, **values: Any) -> OwnType:
    fields = [replace(field, **values) if field.name == name else field for field in own.fields]
    return replace(own, fields=fields)


def test_model_of_start_type_is_that_of_the_sdl(recipe: OwnType, model: type[models.Model]) -> None:
    assert [*list_column_differences(recipe, model), *list_rule_differences(recipe, model)] == []


@pytest.mark.parametrize(
    ("name", "values", "line"),
    [
        ("title", {"max_length": 100}, "    title = models.CharField(max_length=100, blank=True)"),
        ("title", {"name": "name"}, "    name = models.CharField(max_length=200, blank=True)"),
        (
            "servings",
            {"kind": Kind.FLOAT, "is_required": False},
            "    servings = models.FloatField(null=True, blank=True)",
        ),
        ("rating", {"is_required": True}, "    rating = models.FloatField()"),
        ("tags", {"is_list": False, "is_required": True}, "    tags = models.CharField(max_length=1000, blank=True)"),
    ],
)
def test_column_that_differs_is_named(
    recipe: OwnType, model: type[models.Model], name: str, values: dict[str, Any], line: str
) -> None:
    (first, *_) = list_column_differences(change_field(recipe, name, **values), model)

    assert f"Recipe.{values.get('name', name)} differs from recipes/models.py" in first.message
    assert list(first.lines) == [line]


def test_column_that_needs_a_value_and_has_no_field_is_named(recipe: OwnType, model: type[models.Model]) -> None:
    without = replace(recipe, fields=[field for field in recipe.fields if field.name not in ("title", "rating")])

    (found,) = list_column_differences(without, model)

    assert "no field for the column title of recipes/models.py, which needs a value" in found.message


def test_publication_of_a_model_without_its_columns_is_named(recipe: OwnType) -> None:
    model = build_model(replace(recipe, has_publication=False))

    (difference,) = list_column_differences(recipe, model)

    assert difference.message.endswith("Recipe.publishedAt: recipes/models.py lacks the columns of a publication.")
    assert difference.lines[0] == "    published_at = models.DateTimeField(null=True, blank=True)"


def test_constraint_that_differs_is_named(recipe: OwnType, model: type[models.Model]) -> None:
    (found,) = list_rule_differences(change_field(recipe, "servings", maximum=50), model)

    assert "Recipe.servings: recipes/models.py differs in the constraint recipes_recipe_servings_range" in found.message
    assert "Q(servings__gte=1, servings__lte=50)" in "".join(found.lines)


def test_only_the_value_that_an_enum_lacks_is_printed(recipe: OwnType) -> None:
    (recipe.file.parents[1] / "recipes").mkdir()
    (recipe.file.parents[1] / "recipes" / "models.py").write_text(write_models(recipe, {}))
    changed = change_field(recipe, "course", values=("starter", "main", "dessert", "snack"))

    found = [
        *list_column_differences(changed, build_model(recipe)),
        *list_rule_differences(changed, build_model(recipe)),
    ]

    assert [line for each in found for line in each.lines] == ['    SNACK = "snack"']


def test_key_leads_to_the_table_of_the_type() -> None:
    author = OwnField(name="author", type_name="Author", kind=Kind.RELATION, is_required=True)
    column = Comment._meta.get_field("author")

    assert is_same(author, column, TARGETS)
    assert not is_same(author, column, {"Author": {"model": "blog.Image"}})
    assert not is_same(replace(author, is_list=True), column, TARGETS)


def test_files_that_lack_a_field_are_named(recipe: OwnType) -> None:
    assert list(list_missing_members(recipe)) == []
    more = OwnField(name="isHot", type_name="Boolean", kind=Kind.BOOLEAN, is_required=True, is_sortable=True)

    found = list(list_missing_members(replace(recipe, fields=[*recipe.fields, more])))

    assert [(each.file.partition(", ")[2], *each.lines) for each in found] == [
        ("RecipeFilter", '  """Only those with this `isHot`.""" isHot: Boolean'),
        ("RecipeSortField", '  """By `isHot`.""" isHot'),
        ("CreateRecipeInput", "  isHot: Boolean!"),
        ("UpdateRecipeInput", "  isHot: Boolean"),
        ("RecipeResource", "  isHot"),
    ]


def test_definition_and_arguments_that_a_file_lacks_are_named(recipe: OwnType) -> None:
    text = recipe.file.read_text()
    argument = '"""The conditions on the items.""" filter: RecipeFilter'
    recipe.file.write_text(text.replace("input RecipeFilter", "input Other").replace(argument, ""))

    assert [each.message.partition("Recipe: ")[2] for each in list_missing_members(recipe)] == [
        "Query.recipes has no filter.",
        "schema/recipes.graphql has no RecipeFilter.",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"plural": "dishes"}, "Recipe: Query has no dishes."),
        ({"has_publication": False}, "Recipe: the triggers of recipes/models.py have another read or publication."),
    ],
)
def test_change_of_the_declaration_prevents_the_start(
    recipe: OwnType, model: type[models.Model], monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr(differences, "load_own_types", lambda: [replace(recipe, **changed)])
    monkeypatch.setattr(apps, "get_model", lambda *_: model)

    assert message in "".join(error.msg for error in check_own_types())


def test_order_without_its_index_or_its_value_prevents_the_start(
    recipe: OwnType, model: type[models.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*list_index_differences(recipe, model)] == []
    changed = change_field(recipe, "title", is_sortable=True)
    monkeypatch.setattr(differences, "load_own_types", lambda: [changed])
    monkeypatch.setattr(apps, "get_model", lambda *_: model)

    assert [error.msg for error in check_own_types()] == [
        "schema/recipes.graphql: Recipe: recipes/models.py has no index that begins with title.",
        "schema/recipes.graphql: Recipe: RecipeSortField has no title.",
    ]


@pytest.mark.parametrize(
    ("parent", "name"),
    [("UpdateRecipeInput", "servings"), ("CreateRecipeInput", "servings"), ("RecipeSortField", "title")],
)
def test_member_that_is_no_field_is_named(recipe: OwnType, parent: str, name: str) -> None:
    fields = [field for field in recipe.fields if field.name != "servings"]
    recipe.file.write_text(recipe.file.read_text().replace('"""By `createdAt`', 'title """By `createdAt`'))
    require_known_members(recipe, "UpdateRecipeInput")

    with pytest.raises(SdlError, match=f"{parent} has the member {name}, and Recipe has no such field"):
        require_known_members(replace(recipe, fields=fields), parent)


@pytest.mark.parametrize("changed", [{"read": "staff"}, {"has_publication": False}])
def test_triggers_of_another_audience_are_named(
    recipe: OwnType, model: type[models.Model], changed: dict[str, Any]
) -> None:
    assert [*list_trigger_differences(recipe, model)] == []

    (found,) = list_trigger_differences(replace(recipe, **changed), model)

    assert found.message == (
        "schema/recipes.graphql: Recipe: the triggers of recipes/models.py have another read or publication."
    )


def test_triggers_that_lack_a_column_are_named(recipe: OwnType, model: type[models.Model]) -> None:
    assert list(list_event_differences(recipe, model)) == []
    more = OwnField(name="isHot", type_name="Boolean", kind=Kind.BOOLEAN)

    (found,) = list_event_differences(replace(recipe, fields=[*recipe.fields, more]), model)

    assert found.message.endswith("the triggers lack isHot.")
    assert '"isHot"' in "".join(found.lines)
    assert "publishedAt" in list_event_names(recipe)


def test_type_without_a_table_prevents_the_start(recipe: OwnType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "load_own_types", lambda: [recipe])
    monkeypatch.delitem(apps.app_configs, "recipes", raising=False)  # of a copied example
    recipe.file.write_text(WITHOUT_RELATIONS)  # as before `start_type`
    message = "schema/recipes.graphql: Recipe has no table: run manage.py start_type Recipe."

    assert [each.message for each in list_differences(recipe)] == [message]
    assert [error.msg for error in check_own_types()] == [message]
    with pytest.raises(SdlError, match="has no table"):
        require_equal_models()


def test_declaration_that_is_refused_prevents_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise SdlError("schema/recipes.graphql: Recipe must be named like MenuCard.")

    monkeypatch.setattr(differences, "load_own_types", refuse)

    assert [error.msg for error in check_own_types()] == ["schema/recipes.graphql: Recipe must be named like MenuCard."]


def test_model_that_differs_prevents_the_start(
    recipe: OwnType, model: type[models.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = change_field(recipe, "title", max_length=100)
    monkeypatch.setattr(differences, "load_own_types", lambda: [changed])
    monkeypatch.setattr(apps, "get_model", lambda *_: model)

    assert [error.msg for error in check_own_types()] == [
        "schema/recipes.graphql: Recipe.title differs from recipes/models.py: "
        "manage.py start_type Recipe --diff shows it."
    ]
