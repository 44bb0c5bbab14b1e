"""Find the resource of a path, faster than Django's resolver, which tries one pattern after the other."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver

from contentapi.monitoring.records import format_route
from contentapi.rest import Resource

ID = re.compile(r"<str:(\w+)>")
Match = tuple[Resource, dict[str, str], str]


class Router:
    """The resources among some URL patterns, in a tree of the segments of their paths.

    A fixed segment takes precedence over an id, as it must in the patterns. Patterns in another form than
    `posts/<str:post_id>` are left to Django.
    """

    def __init__(self, patterns: Iterable[URLPattern | URLResolver]) -> None:
        self.tree: dict[str, Any] = {}
        self.samples: list[str] = []  # a path of each resource
        for path, resource in iterate_resources(patterns):
            self.samples.append(f"/{ID.sub('1', path)}")
            node = self.tree
            for segment in ID.sub("*", path).split("/"):
                node = node.setdefault(segment, {})
            node[""] = resource, ID.findall(path), format_route(path)

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


def iterate_resources(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, Resource]]:
    """Yield the path pattern of each resource, without the leading slash, and the resource."""
    for pattern in patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from iterate_resources(pattern.url_patterns, path)
            continue
        resource = getattr(pattern.callback, "resource", None)
        is_supported = "<" not in ID.sub("", path)
        if isinstance(resource, Resource) and is_supported:
            yield path, resource
