"""Which resource a path leads to, found faster than Django's resolver does, which tries one pattern after the other."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver

from contentapi.rest import Resource

ID = re.compile(r"<str:(\w+)>")
Match = tuple[Resource, dict[str, str]]


class Router:
    """The resources among some URL patterns, in a tree of the segments of their paths.

    A fixed segment goes before an id, as it must in the patterns. What is written otherwise than `posts/<str:post_id>`
    is left to Django.
    """

    def __init__(self, patterns: Iterable[URLPattern | URLResolver]) -> None:
        self.tree: dict[str, Any] = {}
        self.samples: list[str] = []  # a path of each resource
        for path, resource in iterate_resources(patterns):
            self.samples.append(f"/{ID.sub('1', path)}")
            names = ID.findall(path)
            node = self.tree
            for segment in ID.sub("*", path).split("/"):
                node = node.setdefault(segment, {})
            node[""] = resource, names

    def match(self, path: str) -> Match | None:
        """Return the resource and the ids of a path; None for what is not found here."""
        node, ids = self.tree, []
        for segment in path[1:].split("/"):
            following = node.get(segment) if segment != "*" else None
            if following is None:
                following = node.get("*")
                ids.append(segment)
            if not segment or following is None:
                return None
            node = following
        found = node.get("")
        return (found[0], dict(zip(found[1], ids, strict=True))) if found else None


def iterate_resources(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[str, Resource]]:
    for pattern in patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from iterate_resources(pattern.url_patterns, path)
        elif isinstance(resource := getattr(pattern.callback, "resource", None), Resource) and "<" not in ID.sub(
            "", path
        ):
            yield path, resource
