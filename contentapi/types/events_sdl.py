"""The types of the events of own types in the SDL: the fields of the interface `Event`, and the object."""

import re

from contentapi.types.models import OwnModel

INTERFACE = re.compile(r"^interface Event {\n(.*?)^}", re.DOTALL | re.MULTILINE)


def write_event_type(own: OwnModel, sdl: str) -> str:
    """Return the type of a type's events. `sdl` has the interface."""
    found = INTERFACE.search(sdl)
    fields = found[1] if found else ""
    name, noun = own.sdl.name, own.sdl.noun
    field = f'  "The {noun} as it is now; null if you may not see it."\n  {name.lower()}: {name}\n'
    return f'"Something that happened to {own.sdl.a_noun}."\ntype {name}Event implements Event {{\n{fields}{field}}}\n'
