"""Interfaces whose objects are rows of one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Case, JSONField, Model, Q, When

from contentapi.db.literals import Term
from contentapi.projection.expressions import JsonMembers
from contentapi.projection.fields import CompilationContext, Projection
from contentapi.projection.sdl import SdlField
from contentapi.projection.selections import SelectedField


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
