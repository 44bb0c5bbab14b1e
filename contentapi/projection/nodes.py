"""Objects of several types: Relay's interface `Node`, by their ids, and interfaces whose objects are rows of one table.

    NODE = NodeType({POST: select_post_by_id, ORDER: select_order_node})    # the types that implement `Node`
    NodeQuery(NODE, actor, ids)                                              # what a resolver returns

Each type has the selector of its own root field, such as `post(id:)`, so that both show the same rows. A selector
raises no error: the id may be that of another type.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import router
from django.db.models import Case, JSONField, Model, Q, When

from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.db.expressions import Term
from contentapi.db.ids import SharedIdField
from contentapi.projection.connection_types import RelayType
from contentapi.projection.expressions import JsonMembers
from contentapi.projection.fields import CompilationContext, Projection
from contentapi.projection.querysets import Rows
from contentapi.projection.sdl import ProjectionError, SdlField
from contentapi.projection.selections import SelectedField

SelectById = Callable[[Actor, str], Rows[Any]]


class NodeType(RelayType):
    """The interface `Node` and the types that implement it, each with the selector of a row by its id.

    `select(actor, id)` returns `Rows` whose argument `pk` is the id. A database that is older than the shared sequence
    can have rows of several types for one id: then the first type counts whose row the actor may see.
    """

    def __init__(self, selectors: Mapping[Projection, SelectById]) -> None:
        super().__init__("Node", {"id": "ID!"})
        self.selectors = selectors

    @property
    def types(self) -> Iterable[Projection]:
        return self.selectors

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        super().bind(sdl)
        for projection in self.selectors:
            if not isinstance(projection.model._meta.pk, SharedIdField):
                raise ProjectionError(f"{projection.name} is a Node, but its ids are not unique across types.")


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """The objects with these ids, in the order of the ids; null where the actor may see none."""

    node_type: NodeType
    actor: Actor
    ids: Sequence[str]

    model: ClassVar[None] = None  # each node has its own

    @property
    def cache_key(self) -> Hashable:
        return self.node_type

    @property
    def db(self) -> str:
        """The alias of the database to read from."""
        return router.db_for_read(next(iter(self.node_type.selectors)).model)

    @property
    def array(self) -> str:
        """The ids as PostgreSQL writes an array: `{7,12}`."""
        return "{" + ",".join([str(parse_id(each)) for each in self.ids]) + "}"


class RowInterface(Projection):
    """An interface, with the types that implement it: each is the projection of the rows that meet a condition.

    A selection has an entry for each type, as that of a `NodeQuery`. Each row is read as the type that it has:

        CASE WHEN "type" LIKE 'post.%' THEN (SELECT row_to_json(r.*) FROM …) WHEN "type" LIKE 'user.%' THEN … END
    """

    def __init__(self, name: str, model: type[Model], types: Mapping[Projection, Q]) -> None:
        super().__init__(name, model, {})
        self.types = types

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Check nothing: GraphQL requires that its types have the fields of the interface, and each binds its own."""

    def build_object(self, selection: Iterable[SelectedField], compilation: CompilationContext) -> Term:
        fields = {selected.name: selected.selection for selected in selection}
        cases = [
            When(condition, then=JsonMembers(projection.build_expressions(fields[projection.name], compilation)))
            for projection, condition in self.types.items()
        ]
        return Case(*cases, output_field=JSONField())
