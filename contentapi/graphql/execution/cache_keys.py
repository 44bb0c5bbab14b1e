"""The places and shapes that identify a compiled statement in its cache."""

from collections.abc import Hashable
from enum import Enum
from typing import Any

from graphql import Node, OperationDefinitionNode, Source
from graphql.execution.collect_fields import FieldDetailsList

from contentapi.projection import Ordering


def get_source_location(node: Node) -> tuple[Source, int]:
    """Return the source of a node and its position there."""
    if node.loc is None:
        raise TypeError("A document must be parsed with locations.")
    return node.loc.source, node.loc.start


def get_selection_key(operation: OperationDefinitionNode, details: FieldDetailsList) -> Hashable:
    """Return a cache key of the selection of some fields: the document and the positions in it."""
    source, position = get_source_location(operation)
    return source.body, position, tuple(get_source_location(detail.node)[1] for detail in details)


def get_variable_shape(value: Any) -> Hashable:
    """Return the part of a variable's value that can change the text of a statement.

    These are nulls, booleans, enum members, orderings and the keys of an object.
    """
    if value is None or isinstance(value, bool | Enum | Ordering):
        return value
    if isinstance(value, dict):
        return tuple((name, get_variable_shape(member)) for name, member in value.items())
    return ...
