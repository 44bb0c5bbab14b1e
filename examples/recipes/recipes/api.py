"""What recipes add to the API. The SDL states the rest."""

from contentapi.events.declarations import App
from contentapi.types.models import OwnModel
from recipes.models import Recipe
from recipes.services import create_recipe, update_recipe

API = App(own_types=[OwnModel(Recipe, create=create_recipe, update=update_recipe)])
