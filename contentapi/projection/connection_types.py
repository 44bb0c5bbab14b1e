"""The SDL types of Relay connections."""

from __future__ import annotations

from collections.abc import Mapping

from contentapi.projection.fields import Projection
from contentapi.projection.sdl import ProjectionError, SdlField


class RelayType:
    """An SDL type whose fields and their types Relay's specification prescribes."""

    def __init__(self, name: str, fields: Mapping[str, str]) -> None:
        self.name = name
        self.fields = fields

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Check the type in the SDL. Raises `ProjectionError`, which names type and field."""
        declared = {name: sdl_field.written for name, sdl_field in sdl.items()}
        for name in [*declared, *self.fields]:
            if declared.get(name) != self.fields.get(name):
                actual, required = declared.get(name, "missing"), self.fields.get(name, "missing")
                raise ProjectionError(f"{self.name}.{name} is {actual} in the SDL, but {required} in a connection.")


PAGE_INFO = RelayType(
    "PageInfo",
    {"hasNextPage": "Boolean!", "hasPreviousPage": "Boolean!", "startCursor": "String", "endCursor": "String"},
)


class ConnectionType(RelayType):
    """The connection type of a projected type. One that is too long to be counted has no `totalCount`."""

    def __init__(self, node: Projection, *, is_counted: bool = True) -> None:
        self.node = node
        self.model = node.model
        self.edge = RelayType(f"{node.name}Edge", {"cursor": "String!", "node": f"{node.name}!"})
        fields = {"edges": f"[{self.edge.name}!]!", "pageInfo": "PageInfo!"}
        if is_counted:
            fields["totalCount"] = "Int!"
        super().__init__(f"{node.name}Connection", fields)
