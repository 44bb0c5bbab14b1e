"""Fields of a projection that are read from the rows of a to-many relation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Case, F, JSONField, ManyToOneRel, Model, OuterRef, Q, QuerySet, When

from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.pagination import require_page_size
from contentapi.db.expressions import ArrayPosition, IsEmptyArray, IsInArray, Term
from contentapi.projection.expressions import CountOfRows, JsonArray, RawExpression
from contentapi.projection.fields import (
    EVERY_ROW,
    CompilationContext,
    ProjectedField,
    Projection,
    RelatedRow,
    require_target_projection,
)
from contentapi.projection.ordering import with_total_order
from contentapi.projection.sdl import ProjectionError, SdlField, cast_column_to_sdl, get_model_field
from contentapi.projection.selections import Arguments, ExecutionInputs, Parameter, SelectedField, is_structural

SelectRelated = Callable[..., QuerySet[Any]]  # of related rows, an actor, and arguments by keyword


def select_every_row(rows: QuerySet[Any], _: Actor) -> QuerySet[Any]:
    return rows


def list_arguments(rows: Callable[..., Any]) -> list[str]:
    """Return the names of the keyword-only parameters."""
    parameters = inspect.signature(rows).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def parametrise_arguments(
    names: Iterable[str], arguments: Arguments, read: Callable[[ExecutionInputs], Arguments]
) -> dict[str, Any]:
    """Return each argument as a parameter, or as its value if it can change the structure of the statement."""

    def parametrise(name: str) -> Any:
        value = arguments.get(name)
        return value if is_structural(value) else Parameter(lambda inputs: read(inputs)[name])

    return {name: parametrise(name) for name in names}


class ToMany(ProjectedField):
    """A to-many relation: the rows whose foreign key refers to this row.

    `rows(queryset, actor, **arguments)` filters and orders the related rows. Its keyword-only parameters are the SDL's
    arguments except `limit`, which each such list has, with a default in the SDL. An argument without a value is None.
    The actor's id and all other values except enum members are parameters.
    """

    def __init__(self, relation: str, rows: SelectRelated) -> None:
        self.relation = relation
        self.rows = rows
        self.names = list_arguments(rows)
        self.arguments = [*self.names, "limit"]

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        self.related = build_related_rows(model, self.relation)
        self.target = require_target_projection(sdl, self.related.model, is_list=True)
        self.default_limit: Any = sdl.arguments.get("limit")
        if not isinstance(self.default_limit, int):
            raise ProjectionError("limit needs a default in the SDL")
        if not self.rows(self.related, ANONYMOUS, **dict.fromkeys(self.names)).ordered:
            raise ProjectionError("the rows have no order")

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        arguments, read = compilation.bind_arguments(selected, self.parse_arguments)
        related = self.rows(self.related, compilation.actor, **parametrise_arguments(self.names, arguments, read))
        rows, keys = self.target.select(with_total_order(related), selected.selection, compilation)
        return JsonArray(rows, keys, Parameter(lambda inputs: read(inputs)["limit"]))

    def parse_arguments(self, arguments: Arguments) -> Arguments:
        return {**arguments, "limit": require_page_size(arguments.get("limit"), default=self.default_limit)}


class Listed(ProjectedField):
    """The rows of another model whose keys an array column lists, in the order of the array.

    `rows(queryset, actor)` filters and annotates them. An empty array costs nothing more:

        CASE WHEN "coauthor_ids" = '{}' THEN '[]'::json ELSE array_to_json(ARRAY(SELECT row_to_json(r.*) FROM (
          SELECT U0."name" FROM "blog_author" U0 WHERE U0."id" = ANY("coauthor_ids")
          ORDER BY array_position("coauthor_ids", U0."id") ASC) AS r("name"))) END
    """

    def __init__(self, column: str, rows: Callable[[QuerySet[Any], Actor], QuerySet[Any]] = select_every_row) -> None:
        self.column = column
        self.filter = rows

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        if not isinstance(get_model_field(model, self.column), ArrayField):
            raise ProjectionError(f"{self.column} is no array")
        if not sdl.is_list or not isinstance(sdl.projection, Projection):
            raise ProjectionError(f"the SDL has {sdl.written}, which is no list of objects")
        self.target = sdl.projection
        is_listed = IsInArray(F("pk"), OuterRef(self.column))
        rows = self.target.model._base_manager.filter(is_listed)
        # An annotation: Django does not find the enclosing query in ORDER BY.
        place = ArrayPosition(OuterRef(self.column), F("pk"))
        rows = rows.annotate(place=place)
        self.rows = rows.order_by("place")

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        listed = self.filter(self.rows, compilation.actor)
        rows, keys = self.target.select(listed, selected.selection, compilation)
        is_empty = When(IsEmptyArray(F(self.column)), then=RawExpression("'[]'::json", JSONField()))
        return Case(is_empty, default=JsonArray(rows, keys), output_field=JSONField())


class Referred(RelatedRow):
    """The row of another model whose key is in a column that is no foreign key; null without such a row.

    `rows(queryset)` filters and annotates the rows.
    """

    def __init__(self, column: str, rows: Callable[[QuerySet[Any]], QuerySet[Any]] = lambda rows: rows) -> None:
        self.column = column
        self.filter = rows

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        get_model_field(model, self.column)
        if sdl.is_list or not sdl.is_nullable or not isinstance(sdl.projection, Projection):
            raise ProjectionError(f"the SDL has {sdl.written}, which is no object that can be null")
        self.target = sdl.projection
        self.rows = self.filter(self.target.model._base_manager.filter(pk=OuterRef(self.column)))


class Calculated(ProjectedField):
    """An expression that depends on the arguments of the field.

    The keyword-only parameters of `compute` are the SDL's arguments. Members of an enum and None are passed as they
    are; all other values are parameters. `validate` raises `Malformed` for arguments that are not allowed.
    """

    def __init__(
        self, compute: Callable[..., Term], validate: Callable[[Arguments], Arguments] = lambda arguments: arguments
    ) -> None:
        self.compute = compute
        self.validate = validate
        self.arguments = list_arguments(compute)

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        computed = self.compute(**dict.fromkeys(self.arguments)).resolve_expression(model._base_manager.all().query)
        cast_column_to_sdl(F("_0"), computed.output_field, sdl)

    def build_expression(self, selected: SelectedField, compilation: CompilationContext) -> Term:
        arguments, read = compilation.bind_arguments(selected, self.validate)
        if all(is_structural(arguments.get(name)) for name in self.arguments):
            compilation.arguments.pop()  # the cache key has these values: no execution reads them
        return self.compute(**parametrise_arguments(self.arguments, arguments, read))


class Count(ProjectedField):
    """The number of rows of a to-many relation, of those that meet `condition`."""

    def __init__(self, relation: str, condition: Q = EVERY_ROW) -> None:
        self.relation = relation
        self.condition = condition

    def bind(self, model: type[Model], sdl: SdlField) -> None:
        if sdl.type_name != "Int" or sdl.is_list:
            raise ProjectionError(f"a count is an Int, but the SDL type is {sdl.type_name}")
        rows = build_related_rows(model, self.relation).filter(self.condition)
        self.value = CountOfRows(rows.values("pk"), output_field=BigIntegerField())


def build_related_rows(model: type[Model], relation: str) -> QuerySet[Any]:
    """Return the related rows of the row of the enclosing query: `WHERE U0."post_id" = ("blog_post"."id")`."""
    reverse = get_model_field(model, relation)
    if not isinstance(reverse, ManyToOneRel):
        raise ProjectionError(f"{relation} is not a to-many relation")
    key = reverse.field
    return reverse.related_model._default_manager.filter(**{key.attname: OuterRef("pk")})
