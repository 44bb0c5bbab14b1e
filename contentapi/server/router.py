"""Find the resource of a path, faster than Django's resolver, which tries one pattern after the other."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from contentapi.monitoring.records import format_route
from contentapi.rest import Resource

ID = re.compile(r"<str:(\w+)>")
Match = tuple[Resource, dict[str, str], str]


class Router:
    """The resources of some views, in a tree of the segments of their routes, such as `posts/<str:post_id>`.

    A fixed segment takes precedence over an id, as it must in Django's patterns.
    """

    def __init__(self, views: Mapping[str, Callable[..., Any]]) -> None:
        self.tree: dict[str, Any] = {}
        for route, view in views.items():
            node = self.tree
            for segment in ID.sub("*", route).split("/"):
                node = node.setdefault(segment, {})
            node[""] = vars(view)["resource"], ID.findall(route), format_route(route)

    def match(self, path: str) -> Match | None:
        """Return the resource of a path, its ids by name and its route. Return None if Django must resolve the path."""
        node, ids = self.tree, []
        for segment in path[1:].split("/"):
            following = node.get(segment) if segment != "*" else None
            if following is None:
                following = node.get("*")
                ids.append(segment)
            if not segment or following is None:
                return None
            node = following
        if "" not in node:
            return None
        resource, names, route = node[""]
        return resource, dict(zip(names, ids, strict=True)), route
