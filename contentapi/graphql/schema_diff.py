"""Compare two versions of the SDL: breaking changes, dangerous changes, and deprecations without a clear reason."""

import re
from collections.abc import Iterator
from datetime import date

from graphql import GraphQLSchema, find_breaking_changes, find_dangerous_changes, is_introspection_type

# `@deprecated(reason: "2026-11-21: use `posts`.")`: a date and a replacement.
DEPRECATION = re.compile(r"(?P<since>\d{4}-\d{2}-\d{2}): use `[^`]+`")


def list_breaking_changes(before: GraphQLSchema, after: GraphQLSchema) -> list[str]:
    """List the changes that can make a valid request fail."""
    return sorted(f"{change.type.name}: {change.description}" for change in find_breaking_changes(before, after))


def list_dangerous_changes(before: GraphQLSchema, after: GraphQLSchema) -> list[str]:
    """List the changes that leave requests valid but may surprise a client, such as a new member of an enum."""
    return sorted(f"{change.type.name}: {change.description}" for change in find_dangerous_changes(before, after))


def list_unclear_deprecations(schema: GraphQLSchema) -> list[str]:
    """List the deprecations without a date or a replacement."""
    return [f"{place}: {reason}" for place, reason in iterate_deprecations(schema) if not is_clear_deprecation(reason)]


def is_clear_deprecation(reason: str) -> bool:
    match = DEPRECATION.match(reason)
    try:
        return match is not None and bool(date.fromisoformat(match["since"]))
    except ValueError:
        return False


def iterate_deprecations(schema: GraphQLSchema) -> Iterator[tuple[str, str]]:
    """Yield each deprecated field, argument and enum value, as `Type.field(argument)`, and the reason."""
    for kind in schema.type_map.values():
        if is_introspection_type(kind):
            continue
        members = getattr(kind, "fields", None) or getattr(kind, "values", None) or {}
        for name, member in members.items():
            arguments = getattr(member, "args", {})
            parts = {"": member} | {f"({argument})": part for argument, part in arguments.items()}
            for suffix, part in parts.items():
                reason = part.deprecation_reason
                if reason is not None:
                    yield f"{kind}.{name}{suffix}", reason
