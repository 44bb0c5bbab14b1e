"""Projections in GraphQL's terms: bound to the SDL's types, and put to work where a resolver returns rows."""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from ariadne import convert_camel_case_to_snake
from django.db.models import Model, QuerySet
from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    ListValueNode,
    Location,
    ObjectValueNode,
    ValueNode,
    VariableNode,
    get_argument_values,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
    located_error,
)
from graphql.execution.collect_fields import FieldDetailsList, collect_subfields
from graphql.execution.executor_throwing_on_incremental import ExecutorThrowingOnIncremental
from graphql.pyutils import Path
from graphql.utilities import coerce_input_literal

from contentapi.projection import (
    FieldFailed,
    Projection,
    ProjectionError,
    ReadArguments,
    SdlField,
    Selected,
    by_shape,
    project,
)

KEPT_AS = "projection"  # among the extensions of a GraphQL type


class ProjectedTypes:
    """The projections of a schema, as an Ariadne bindable. Raises `ProjectionError` where they do not fit."""

    def __init__(self, projections: Sequence[Projection]) -> None:
        self.projections = projections

    def bind_to_schema(self, schema: GraphQLSchema) -> None:
        for projection in self.projections:
            kind = schema.get_type(projection.name)
            if not isinstance(kind, GraphQLObjectType):
                raise ProjectionError(f"{projection.name} is projected, and is no object type of the SDL.")
            kind.extensions[KEPT_AS] = projection
        for projection in self.projections:
            kind = cast("GraphQLObjectType", schema.get_type(projection.name))
            projection.bind({name: described(field) for name, field in kind.fields.items()})


def described(field: GraphQLField) -> SdlField:
    named = get_named_type(field.type)
    return SdlField(
        type_name=named.name,
        projection=projection_of(named),
        is_list=is_list_type(get_nullable_type(field.type)),
        is_nullable=not is_non_null_type(field.type),
        values=frozenset(named.values) if isinstance(named, GraphQLEnumType) else None,
        arguments={convert_camel_case_to_snake(name): default_of(argument) for name, argument in field.args.items()},
    )


def default_of(argument: GraphQLArgument) -> Any:
    """Return an argument's default; None when it has none."""
    literal = argument.ast_node and argument.ast_node.default_value
    return coerce_input_literal(literal, argument.type) if literal else None


def projection_of(kind: GraphQLNamedType) -> Projection | None:
    return cast("Projection | None", kind.extensions.get(KEPT_AS))


@cache
def reread(model: type[Model]) -> Callable[..., QuerySet[Model]]:
    """Return a selector of the one row of a model that has just been written."""
    return by_shape(model)(lambda _, pk: model._base_manager.filter(pk=pk))  # noqa: SLF001 - documented by Django


class ProjectingExecutor(ExecutorThrowingOnIncremental):
    """graphql-core's executor, which reads rows by projection.

    Where a resolver returns a QuerySet, or a saved instance, of a projected type's model, all that is selected of it
    comes out of one statement, and the bytes that PostgreSQL sent become the value. Everything else that a resolver
    returns is completed by graphql-core as ever.
    """

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> Any:
        if isinstance(result, Model):
            result = reread(type(result))(info.context["actor"], pk=result.pk)
        elif not isinstance(result, QuerySet):
            return super().complete_value(return_type, field_details_list, info, path, result, position_context)
        kind = get_named_type(return_type)
        projection = projection_of(kind)
        location = self.operation.loc
        if projection is None or projection.model is not result.model:
            raise TypeError(f"{info.parent_type}.{info.field_name} is resolved to rows, and {kind} is not projected.")
        if location is None:
            raise TypeError("A document that is projected needs its locations.")
        is_list = is_list_type(get_nullable_type(return_type))
        try:
            texts = project(
                result,
                projection,
                key=self.key_of(location, path),
                size=len(location.source.body),
                select=lambda: self.selection_of(cast("GraphQLObjectType", kind), field_details_list, path, is_list),
                actor=info.context["actor"],
                variables=self.variable_values,
            )
        except FieldFailed as failure:
            node, place = failure.selected.origin
            raise located_error(failure.cause, [node], place) from failure.cause
        if is_list:
            return msgspec.Raw(b"[" + b",".join(texts) + b"]")
        if len(texts) > 1:
            raise TypeError(f"{info.parent_type}.{info.field_name} is one object, and was resolved to {len(texts)}.")
        if not texts and is_non_null_type(return_type):
            raise TypeError(f"Cannot return null for non-nullable field {info.parent_type}.{info.field_name}.")
        return msgspec.Raw(texts[0]) if texts else None

    def key_of(self, location: Location, path: Path) -> Hashable:
        """Return what stands for the selection at a path: the document, the place, and what varies between requests."""
        names = tuple(name for name in path.as_list() if isinstance(name, str))
        variables = tuple((name, structure_of(value)) for name, value in self.variable_values.coerced.items())
        return location.source.body, location.start, names, variables

    def selection_of(
        self,
        kind: GraphQLObjectType,
        details: FieldDetailsList,
        path: Path,
        is_list: bool,  # noqa: FBT001
    ) -> tuple[Selected, ...]:
        """Collect what is selected of a type: fragments merged, and what is skipped left out.

        A path ends at the first list: the fields of its items fail all at once.
        """
        collected = collect_subfields(
            self.schema, self.fragments, self.variable_values, self.operation, kind, details, self.hide_suggestions
        )
        return tuple(
            self.selected(kind, key, found, path if is_list else path.add_key(key), is_list)
            for key, found in collected.grouped_field_set.items()
        )

    def selected(
        self,
        kind: GraphQLObjectType,
        key: str,
        details: FieldDetailsList,
        path: Path,
        in_list: bool,  # noqa: FBT001
    ) -> Selected:
        node = details[0].node
        field = self.schema.get_field(kind, node.name.value)
        if field is None:
            raise TypeError(f"{kind} has no field {node.name.value}: the document was not validated.")
        named = get_named_type(field.type)
        is_list = in_list or is_list_type(get_nullable_type(field.type))
        return Selected(
            key,
            node.name.value,
            argument_reader(field, node) if field.args else None,
            self.selection_of(named, details, path, is_list) if isinstance(named, GraphQLObjectType) else (),
            origin=(node, path.as_list()),
        )


def structure_of(value: Any) -> Hashable:
    """Return what of a variable's value can decide the structure of a statement: that it is there, what it switches."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return tuple((name, structure_of(member)) for name, member in value.items())
    return ...


def argument_reader(field: GraphQLField, node: FieldNode) -> ReadArguments:
    """Return a function from a request's variables to the arguments of a field, coerced and with their defaults."""
    if any(holds_variable(argument.value) for argument in node.arguments or ()):
        return lambda variables: get_argument_values(field, node, variables)
    constant = get_argument_values(field, node)
    return lambda _: constant


def holds_variable(value: ValueNode) -> bool:
    if isinstance(value, ListValueNode):
        return any(map(holds_variable, value.values))
    if isinstance(value, ObjectValueNode):
        return any(holds_variable(member.value) for member in value.fields)
    return isinstance(value, VariableNode)
