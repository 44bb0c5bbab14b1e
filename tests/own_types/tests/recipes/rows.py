"""Recipes for tests."""

from typing import Any

from recipes.models import Recipe

from tests.factories import make_author

BODY: dict[str, Any] = {"title": "Soup", "servings": 4, "steps": "Cook.", "course": "main"}


def make_recipe(**values: Any) -> Recipe:
    return Recipe.objects.create(**{**BODY, "author": values.pop("author", None) or make_author(), **values})
