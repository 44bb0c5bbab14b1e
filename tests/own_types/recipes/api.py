"""What recipes add to the API."""

from contentapi.events.declarations import App
from contentapi.types.models import OwnModel
from recipes.models import Recipe

API = App(own_types=[OwnModel(Recipe)])
