"""Projections: declare how each field of an SDL type is read from a model.

    POST = Projection("Post", Post, {
        "x": "focal_x",                         # a column; cast to text if the SDL type is ID or String
        "author": ToOne("author"),              # a to-one relation
        "copy": ToOne("copy", rows),            # one of which the actor may not see every row: `rows` filters
        "source": SameRowAsType(),              # the same row as another SDL type
        "comments": ToMany("comments", rows),   # a to-many relation: `rows` filters and orders
        "commentCount": Count("comments"),
        "email": Computed(email),               # an expression that depends on the actor
        "place": Annotation("place", TextField()),  # a value that its rows have beside their columns
    })

A field of the SDL that is not in the mapping, such as `createdAt`, is the column with its name: `created_at`.

`bind` compares a projection with the SDL and the model at start-up. An error names the type and the field.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from django.core.exceptions import FieldError
from django.db.models import F, Field, ForeignKey, Model, OneToOneRel, OuterRef, Q, QuerySet

from contentapi.core.errors import Malformed
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.text import convert_to_camel
from contentapi.db.expressions import Term, TextLiteral
from contentapi.projection.deferred import DeferredField, defer, must_defer
from contentapi.projection.expressions import JsonMembers, JsonObject
from contentapi.projection.sdl import (
    ProjectionError,
    SdlField,
    cast_column_to_sdl,
    get_model_field,
    list_plain_columns,
    require_arguments,
)
from contentapi.projection.selections import (
    Arguments,
    ExecutionInputs,
    SelectedField,
    SelectedFieldError,
    build_parametrised_actor,
)

EVERY_ROW = Q()
NOTHING: Mapping[str, Any] = MappingProxyType({})


class CompilationContext:
    """The state while one statement is compiled: actor, variables, and the arguments that the statement uses."""

    def __init__(self, actor: Actor, variables: Any) -> None:
        self.actor = build_parametrised_actor(actor)
        self.variables = variables
        self.arguments: list[Callable[[Any], Any]] = []
        self.deferred: list[DeferredField] = []

    def bind_arguments(
        self, selected: SelectedField, parse: Callable[[Arguments], Any]
    ) -> tuple[Any, Callable[[ExecutionInputs], Any]]:
        """Return the parsed arguments of a field in this request, and a function that reads those of each execution.

        If `parse` raises `Malformed`, both raise `SelectedFieldError`.
        """
        read = selected.read_arguments or (lambda _: {})
        number = len(self.arguments)

        def read_and_parse(variables: Any) -> Any:
            try:
                return parse(read(variables))
            except Malformed as error:
                raise SelectedFieldError(selected, error) from None

        self.arguments.append(read_and_parse)
        return read_and_parse(self.variables), lambda inputs: inputs.arguments[number]


class ProjectedField(ABC):
    """How one field is read. `bind` sets `value` if it is the same in all statements."""

    value: Term
    arguments: Collection[str] = ()  # of the SDL
    is_deferred = False  # whether it has a statement of its own

    @abstractmethod
    def bind(self, model: type[Model], sdl: SdlField) -> None:
        """Check the field against the model and the SDL. Raises `ProjectionError`."""

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:  # noqa: ARG002
        """Return the value of the field, as an expression over the rows of the model."""
        return self.value


class Column(ProjectedField):
    """A column of the model. It is cast to text if the SDL type is `ID` or `String`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        column = get_model_field(model, self.name)
        if column.is_relation or not isinstance(column, Field):
            raise ProjectionError(f"{self.name} is a relation: use ToOne, ToMany or Count")
        if column.null and not sdl.is_nullable:
            raise ProjectionError(f"{self.name} can be NULL, but the SDL type is non-null")
        self.value = cast_column_to_sdl(F(self.name), column, sdl)


class Computed(ProjectedField):
    """An expression that may depend on the actor's role, scopes and kind of credential. The id is a parameter.

    Make sure that the expression is null only where the SDL allows null: `bind` cannot check this.
    """

    def __init__(self, compute: Callable[[Actor], Term]) -> None:
        self.compute = compute

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.sdl = sdl
        try:
            computed = self.compute(ANONYMOUS).resolve_expression(model._base_manager.all().query)
        except FieldError as error:
            raise ProjectionError(str(error)) from None
        self.column = computed.output_field
        cast_column_to_sdl(F("_0"), self.column, sdl)

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:  # noqa: ARG002
        return cast_column_to_sdl(self.compute(compilation.actor), self.column, self.sdl)


class Annotation(ProjectedField):
    """A value that the rows have beside the columns of their model. Each field that returns the type annotates it."""

    def __init__(self, name: str, column: Field[Any, Any]) -> None:
        self.name = name
        self.column = column

    def bind(self, model: type[Model], sdl: SdlField) -> None:  # noqa: ARG002
        self.value = cast_column_to_sdl(F(self.name), self.column, sdl)


class RelatedRow(ProjectedField):
    """One row of another table, or null. `bind` sets its projection, and the rows of which it is the only one."""

    target: Projection
    rows: QuerySet[Any]

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        return JsonObject(*self.target.select(self.rows, selected.selection, compilation))


class SameRowAsType(RelatedRow):
    """The same row as another SDL type of the same model; null unless the row meets `condition`."""

    def __init__(self, condition: Q = EVERY_ROW) -> None:
        self.condition = condition

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.target = require_target_projection(sdl, model, is_list=False)
        if self.condition and not sdl.is_nullable:
            raise ProjectionError("a row may not meet the condition, but the SDL type is non-null")
        self.rows = model._base_manager.filter(self.condition, pk=OuterRef("pk"))

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        if not self.condition:
            return self.target.build_object(selected.selection, compilation)
        return super().build_expression(selected, compilation)


class ToOne(ProjectedField):
    """A to-one relation: a foreign key of the model, or a one-to-one relation that refers to it.

    `rows(queryset, actor)` filters the related rows. The field is null for a row that it leaves out.
    """

    def __init__(self, relation: str, rows: Callable[[QuerySet[Any], Actor], QuerySet[Any]] | None = None) -> None:
        self.relation = relation
        self.filter = rows

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        relation = get_model_field(model, self.relation)
        if not isinstance(relation, ForeignKey | OneToOneRel):
            raise ProjectionError(f"{self.relation} is neither a foreign key nor a one-to-one relation")
        self.target = require_target_projection(sdl, relation.related_model, is_list=False)
        can_be_null = relation.null or self.filter
        if can_be_null and not sdl.is_nullable:
            raise ProjectionError(f"{self.relation} can be NULL, but the SDL type is non-null")
        key = relation if isinstance(relation, ForeignKey) else relation.field
        condition = {"pk": OuterRef(key.attname)}
        if key is not relation:  # the other model has it
            condition = {key.attname: OuterRef("pk")}
        self.rows = self.target.model._base_manager.filter(**condition)

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        related = self.filter(self.rows, compilation.actor) if self.filter else self.rows
        return JsonObject(*self.target.select(related, selected.selection, compilation))


class Projection:
    """How an SDL type is read from a model: a `ProjectedField` for each field of the SDL that is no column of its name.

    A column with another name is a text.
    """

    def __init__(self, name: str, model: type[Model], fields: Mapping[str, ProjectedField | str] = NOTHING) -> None:
        self.name = name
        self.model = model
        self.declared = {name: Column(field) if isinstance(field, str) else field for name, field in fields.items()}
        self.fields: Mapping[str, ProjectedField] = self.declared

    def bind(self, sdl: Mapping[str, SdlField]) -> None:
        """Check the projection against the SDL and the model. Raises `ProjectionError`, which names type and field."""
        columns = {convert_to_camel(column.name): Column(column.name) for column in list_plain_columns(self.model)}
        self.fields = {name: columns[name] for name in sdl if name in columns} | self.declared
        for name in [*sdl, *self.fields]:
            if name not in self.fields:
                model = self.model.__name__
                raise ProjectionError(f"{self.name}.{name} is neither in its projection nor a column of {model}.")
            if name not in sdl:
                raise ProjectionError(f"{self.name}.{name} is in its projection, but not in the SDL.")
        for name, field in self.fields.items():
            try:
                field.bind(self.model, sdl[name])
                require_arguments(sdl[name], field.arguments)
                field.is_deferred = must_defer(self.model, sdl[name].projection)
            except ProjectionError as error:
                raise ProjectionError(f"{self.name}.{name}: {error}.") from None

    def select(
        self, rows: QuerySet[Any], selection: Iterable[SelectedField], compilation: CompilationContext
    ) -> tuple[QuerySet[Any, Any], list[str]]:
        """Return a query with a column for each selected field, and the keys of the columns.

        SELECT "blog_post"."title" AS "_0", (SELECT …) AS "_1" FROM "blog_post"        ["title", "author"]
        """
        fields = self.build_expressions(selection, compilation)
        # The columns get numbers: a key may have the name of a field of the model, which Django refuses.
        columns = {f"_{number}": expression for number, (_, expression) in enumerate(fields)}
        return rows.values(**columns or {"_0": TextLiteral("")}), [key for key, _ in fields]

    def build_expressions(
        self, selection: Iterable[SelectedField], compilation: CompilationContext
    ) -> list[tuple[str, Term]]:
        """Return the key and the value of each selected field. Values are expressions over the rows of the model."""
        return [(selected.key, self.build_expression(selected, compilation)) for selected in selection]

    def build_object(self, selection: Iterable[SelectedField], compilation: CompilationContext) -> Term:
        """Return the selected fields of a row as one JSON object."""
        return JsonMembers(self.build_expressions(selection, compilation))

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        if selected.name == "__typename":
            return TextLiteral(self.name)
        field = self.fields[selected.name]
        if field.is_deferred:
            return defer(field, selected, compilation, self.model)
        return field.build_expression(selected, compilation)


def require_target_projection(sdl: SdlField, model: Any, *, is_list: bool) -> Projection:
    """Return the projection of the field's SDL type. Raises `ProjectionError` if it does not fit the relation."""
    if not isinstance(sdl.projection, Projection) or sdl.projection.model is not model or sdl.is_list != is_list:
        structure = "list" if sdl.is_list else "object"
        raise ProjectionError(f"the SDL has a {structure} of {sdl.type_name}, which does not fit {model.__name__}")
    return sdl.projection
