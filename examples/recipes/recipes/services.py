"""The rule of the team's own: an author has at most ten recipes that are not published."""

from collections.abc import Mapping
from typing import Any

from contentapi.core.entity_tags import ExpectedVersion
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor
from contentapi.types import services
from recipes.models import Recipe

MAX_UNPUBLISHED = 10


def create_recipe(*, actor: Actor, **values: Any) -> Recipe:
    """Create a recipe, as `services.create_row` does. Raises `Conflict` if its author has ten unpublished ones."""
    recipe: Recipe = services.create_row(Recipe, actor=actor, **values)
    require_room(recipe)
    return recipe


def update_recipe(
    *, actor: Actor, row_id: str, changes: Mapping[str, Any], expected_version: ExpectedVersion = None
) -> Recipe:
    """Change, publish or unpublish a recipe, as `services.update_row` does.

    Raises `Conflict` if its author has no room for it: a new author, or that of an unpublished recipe.
    """
    recipe: Recipe = services.update_row(
        Recipe, actor=actor, row_id=row_id, changes=changes, expected_version=expected_version
    )
    if changes.keys() & {"author_id", "published_at"}:
        require_room(recipe)
    return recipe


def require_room(recipe: Recipe) -> None:
    """Raise `Conflict` if an unpublished recipe is one too many for its author. Writes for one author wait."""
    if recipe.published_at is not None:
        return
    type(recipe.author).objects.select_for_update(no_key=True).get(pk=recipe.author_id)
    if Recipe.objects.filter(author=recipe.author_id, published_at=None).count() > MAX_UNPUBLISHED:
        raise Conflict(f"An author has at most {MAX_UNPUBLISHED} recipes that are not published.")
