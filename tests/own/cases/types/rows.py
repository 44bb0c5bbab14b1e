"""Dishes for tests."""

from typing import Any

from dishes.models import Dish

from tests.factories import make_author

BODY: dict[str, Any] = {"title": "Soup", "servings": 4, "steps": "Cook.", "course": "main"}


def make_dish(**values: Any) -> Dish:
    return Dish.objects.create(**{**BODY, "author": values.pop("author", None) or make_author(), **values})
