"""Projections: how each field of an SDL type is said in the ORM.

    POST = Projection("Post", Post, {
        "title": "title",                       # a column; text where the SDL says ID or String
        "createdAt": "created_at",              # a renamed one
        "author": One("author"),                # a to-one relation
        "source": Itself(),                     # the same row, as another type
        "comments": Many("comments", rows),     # a to-many relation: its order, its filter, its arguments
        "commentCount": Count("comments"),
        "email": Computed(email),               # an expression that takes the actor
    })

`bind` holds a projection to the SDL and to the models at start-up, and names the type and the field that do not fit.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.core.exceptions import FieldError
from django.db.models import (
    BigIntegerField,
    F,
    Field,
    ForeignKey,
    ManyToOneRel,
    Model,
    OneToOneRel,
    OuterRef,
    QuerySet,
)
from django.db.models.expressions import Combinable

from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.pagination import require_page_size
from contentapi.db.literals import TextLiteral
from contentapi.projection.expressions import CountOfRows, JsonArray, JsonObject
from contentapi.projection.ordering import with_total_order
from contentapi.projection.sdl import (
    ProjectionError,
    SdlField,
    cast_column_to_sdl,
    get_model_field,
    join_names,
    require_no_arguments,
)
from contentapi.projection.selections import (
    Arguments,
    ExecutionInputs,
    Parameter,
    SelectedField,
    SelectedFieldError,
    is_fixed,
    parametrised_actor,
)


class Compilation:
    """The making of one statement: for whom, with which variables, and whose arguments it turns out to use."""

    def __init__(self, actor: Actor, variables: Any) -> None:
        self.actor = parametrised_actor(actor)
        self.variables = variables
        self.arguments: list[Callable[[Any], Any]] = []

    def arguments_of(
        self, selected: SelectedField, understand: Callable[[Arguments], Any] = lambda given: given
    ) -> tuple[Any, Callable[[ExecutionInputs], Any]]:
        """Return what this request's arguments of a field are understood as, and how each execution reads its own."""
        read = selected.read_arguments or (lambda _: {})
        place = len(self.arguments)
        self.arguments.append(lambda variables: understand(read(variables)))
        return self.arguments[place](self.variables), lambda inputs: inputs.arguments[place]


class ProjectedField(ABC):
    """How one field is said in the ORM."""

    @abstractmethod
    def bind(self, model: type[Model], sdl: SdlField) -> None:
        """Hold the field to the model and the SDL. Raises `ProjectionError`."""

    @abstractmethod
    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        """Return the field's value, as an expression over the rows of its model."""


class Column(ProjectedField):
    """A column of the model; a column that is no text becomes one where the SDL says `ID` or `String`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        column = get_model_field(model, self.name)
        if column.is_relation or not isinstance(column, Field):
            raise ProjectionError(f"{self.name} is a relation: say One, Many or Count")
        require_no_arguments(sdl)
        if column.null and not sdl.is_nullable:
            raise ProjectionError(f"{self.name} can be NULL, and the SDL says non-null")
        self.value: Combinable = cast_column_to_sdl(F(self.name), column, sdl)

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:  # noqa: ARG002
        return self.value


class Computed(ProjectedField):
    """An expression, which may depend on who asks: on role, scopes and credential, with a parameter in place of the id.

    That it is null only where the SDL says so is for you to see to.
    """

    def __init__(self, value: Callable[[Actor], Combinable]) -> None:
        self.value = value

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        require_no_arguments(sdl)
        self.sdl = sdl
        try:
            rows = model._base_manager.annotate(_0=self.value(ANONYMOUS))
        except FieldError as error:
            raise ProjectionError(str(error)) from None
        self.column = rows.query.annotations["_0"].output_field
        cast_column_to_sdl(F("_0"), self.column, sdl)

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:  # noqa: ARG002
        return cast_column_to_sdl(self.value(compilation.actor), self.column, self.sdl)


class SameRow(ProjectedField):
    """The row itself, as another SDL type of the same model."""

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        require_no_arguments(sdl)
        self.target = require_target(sdl, model, is_list=False)
        self.rows = model._base_manager.filter(pk=OuterRef("pk"))

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        rows, keys = self.target.select(self.rows, selected.selection, compilation)
        return JsonObject(rows, keys)


class ToOne(ProjectedField):
    """A to-one relation: a foreign key of the model, or a one-to-one that points here."""

    def __init__(self, relation: str) -> None:
        self.relation = relation

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        relation = get_model_field(model, self.relation)
        if not isinstance(relation, ForeignKey | OneToOneRel):
            raise ProjectionError(f"{self.relation} is no foreign key and no one-to-one")
        require_no_arguments(sdl)
        self.target = require_target(sdl, relation.related_model, is_list=False)
        if relation.null and not sdl.is_nullable:
            raise ProjectionError(f"{self.relation} can be NULL, and the SDL says non-null")
        key = relation if isinstance(relation, ForeignKey) else relation.field
        there, here = key.target_field.name, key.attname
        same = {there: OuterRef(here)} if key is relation else {here: OuterRef(there)}
        self.rows = self.target.model._base_manager.filter(**same)

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        rows, keys = self.target.select(self.rows, selected.selection, compilation)
        return JsonObject(rows, keys)


class ToMany(ProjectedField):
    """A to-many relation: the foreign keys that point here, seen from the other side.

    `rows(queryset, actor, **arguments)` narrows and orders the related rows; its keyword-only parameters are the SDL's
    arguments, None where no value is given, but for `limit`, which every such list has, with the SDL's default. It is
    given parameters for the actor's id and for all values but the members of enums.
    """

    def __init__(self, relation: str, rows: Callable[..., QuerySet[Any]]) -> None:
        self.relation = relation
        self.rows = rows
        kinds = inspect.signature(rows).parameters.values()
        self.names = [parameter.name for parameter in kinds if parameter.kind is parameter.KEYWORD_ONLY]

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.related = build_related_rows(model, self.relation)
        self.target = require_target(sdl, self.related.model, is_list=True)
        if set(sdl.arguments) != {*self.names, "limit"}:
            raise ProjectionError(
                f"the SDL's arguments are {join_names(sdl.arguments)}; the projection's {join_names([*self.names, 'limit'])}"
            )
        self.default_limit = sdl.arguments["limit"]
        if not isinstance(self.default_limit, int):
            raise ProjectionError("limit needs a default in the SDL")
        if not self.rows(self.related, ANONYMOUS, **dict.fromkeys(self.names)).query.order_by:
            raise ProjectionError("the rows have no order")

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        given, read = compilation.arguments_of(selected)

        def argument(name: str) -> Any:
            value = given.get(name)
            return value if is_fixed(value) else Parameter(lambda inputs: read(inputs)[name])

        related = self.rows(self.related, compilation.actor, **{name: argument(name) for name in self.names})
        rows, keys = self.target.select(with_total_order(related), selected.selection, compilation)
        limit = Parameter(lambda inputs: self.page_size(selected, read(inputs).get("limit")))
        return JsonArray(rows, keys, limit)

    def page_size(self, selected: SelectedField, limit: int | None) -> int:
        try:
            return require_page_size(limit, default=self.default_limit)
        except Malformed as trouble:
            raise SelectedFieldError(selected, trouble) from None


class Count(ProjectedField):
    """How many rows a to-many relation has."""

    def __init__(self, relation: str) -> None:
        self.relation = relation

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        require_no_arguments(sdl)
        if sdl.type_name != "Int" or sdl.is_list:
            raise ProjectionError(f"a count is an Int, and the SDL says {sdl.type_name}")
        self.value = CountOfRows(build_related_rows(model, self.relation).values("pk"), output_field=BigIntegerField())

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:  # noqa: ARG002
        return self.value


class Projection:
    """How an SDL type is read from a model: a field of the ORM for every field of the SDL."""

    def __init__(self, name: str, model: type[Model], fields: Mapping[str, ProjectedField | str]) -> None:
        self.name = name
        self.model = model
        self.fields = {name: Column(said) if isinstance(said, str) else said for name, said in fields.items()}

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Hold the projection to the fields that the SDL has. Raises `ProjectionError`, naming type and field."""
        for name in [*sdl, *self.fields]:
            if name not in self.fields:
                raise ProjectionError(f"{self.name}.{name} is in the SDL, and its projection lacks it.")
            if name not in sdl:
                raise ProjectionError(f"{self.name}.{name} is projected, and the SDL lacks it.")
        for name, said in self.fields.items():
            try:
                said.bind(self.model, sdl[name])
            except ProjectionError as trouble:
                raise ProjectionError(f"{self.name}.{name}: {trouble}.") from None

    def select(
        self, rows: QuerySet[Any], selection: Iterable[SelectedField], compilation: Compilation
    ) -> tuple[QuerySet[Any, Any], list[str]]:
        """Return a query for the selected fields of some rows, a column each, and the columns' keys."""
        fields = self.expressions(selection, compilation)
        columns = {f"_{place}": expression for place, (_, expression) in enumerate(fields)}
        return rows.values(**columns or {"_0": TextLiteral("")}), [key for key, _ in fields]

    def expressions(self, selection: Iterable[SelectedField], compilation: Compilation) -> list[tuple[str, Combinable]]:
        """Return the selected fields: their keys, and their values over the rows of the model."""
        return [(selected.key, self.expression(selected, compilation)) for selected in selection]

    def expression(self, selected: SelectedField, compilation: Compilation) -> Combinable:
        if selected.name == "__typename":
            return TextLiteral(self.name)
        return self.fields[selected.name].expression(selected, compilation)


def build_related_rows(model: type[Model], relation: str) -> QuerySet[Any]:
    """Return the rows of a to-many relation, of whichever row the query around them is about."""
    pointing = get_model_field(model, relation)
    if not isinstance(pointing, ManyToOneRel):
        raise ProjectionError(f"{relation} is no to-many relation")
    key = pointing.field
    return pointing.related_model._default_manager.filter(**{key.attname: OuterRef(key.target_field.name)})


def require_target(sdl: SdlField, model: Any, *, is_list: bool) -> Projection:
    if not isinstance(sdl.projection, Projection) or sdl.projection.model is not model or sdl.is_list != is_list:
        kind = "list" if sdl.is_list else "object"
        raise ProjectionError(
            f"the SDL has a {kind} of {sdl.type_name}, which is not how {model.__name__} is projected"
        )
    return sdl.projection
