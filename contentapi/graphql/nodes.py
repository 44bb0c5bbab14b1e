"""Resolvers of `node(id:)` and `nodes(ids:)`, which return objects of any type that implements `Node`."""

from collections.abc import Sequence

from ariadne import QueryType

from contentapi.graphql.limits import require_within_limit
from contentapi.graphql.root_fields import Info
from contentapi.projection import NodeQuery, NodeType


def build_node_resolvers(node_type: NodeType) -> QueryType:
    """Return the resolvers of both root fields for the types of a schema."""
    query = QueryType()

    @query.field("node")
    def resolve_node(_: None, info: Info, id: str) -> NodeQuery:  # noqa: A002 - the name in the SDL
        return NodeQuery(node_type, info.context["actor"], [id])

    @query.field("nodes")
    def resolve_nodes(_: None, info: Info, ids: Sequence[str]) -> NodeQuery:
        """Raises `LimitExceeded` for more ids than a page has items."""
        require_within_limit("number of ids", len(ids), "contentapi_max_page")
        return NodeQuery(node_type, info.context["actor"], ids)

    return query
