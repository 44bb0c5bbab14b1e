"""The names of own types, whose SDL is the team's: tests of the contract of this project leave them out."""

from contentapi.types.declared import load_own_types
from contentapi.types.names import list_api_names

OWN_TYPES = load_own_types()
OWN_APPS = tuple(f"{own.app}_" for own in OWN_TYPES)
OWN_SCOPES = {f"{own.path}:{action}" for own in OWN_TYPES for action in ("read", "write")}
OWN_KINDS = tuple(f"{own.name.lower()}." for own in OWN_TYPES)
OWN_PATHS = tuple(f"/{own.path}" for own in OWN_TYPES)
OWN_NAMES = {name for own in OWN_TYPES for name in (own.name, f"{own.name}Event", *list_api_names(own))}
