"""Executing by projection: where a resolver returns rows, one statement reads all that is selected of them."""

from collections.abc import Hashable
from enum import Enum
from typing import Any, NamedTuple, TypeGuard, cast

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Model, QuerySet
from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    Node,
    OperationDefinitionNode,
    Source,
    get_named_type,
    get_nullable_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetailsList, collect_subfields
from graphql.execution.executor import CollectedErrors
from graphql.execution.executor_throwing_on_incremental import ExecutorThrowingOnIncremental
from graphql.execution.values import VariableValues
from graphql.pyutils import Path

from contentapi.core.errors import ResponseTooLarge
from contentapi.core.text import json_array
from contentapi.graphql.bindings import get_projection
from contentapi.graphql.context import RequestContext
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.graphql.limits import limit_exceeded
from contentapi.projection import (
    ConnectionQuery,
    ConnectionType,
    Ordering,
    Projection,
    ReadArguments,
    RelayType,
    SelectedField,
    SelectedFieldError,
    SelectionRequest,
    read_json,
    returning,
    select_instance,
)


class RootField(NamedTuple):
    """A field of a root type under its key in the answer, with whatever is needed to resolve it."""

    key: str
    field: GraphQLField
    details: FieldDetailsList
    nodes: list[FieldNode]
    path: Path
    read_arguments: ReadArguments | None
    projection: Projection | RelayType | None  # of its type
    place: Hashable  # of its selection: the document, and the places in it
    varies: bool  # by the variables, what is selected of it; which rows is for `ShapedQuerySet.shape` to say


class ProjectingExecutor(ExecutorThrowingOnIncremental):
    """graphql-core's executor, which reads rows by projection.

    Where a resolver of a projected type returns a QuerySet, or a saved instance, of the type's model, or for a
    connection `Connected` rows of it, all that is selected comes out of one statement, and the bytes that PostgreSQL
    sent become the value. Everything else that a resolver returns is completed by graphql-core as ever.
    """

    root: RootField | None = None  # that is being executed
    room: int | None = None  # bytes left for rows in the response; None for any number
    fields_selected = 0  # of one operation, its fragments spread out, while statements are made for it

    def for_request(
        self, context: RequestContext, variables: VariableValues, *, hide_suggestions: bool, room: int | None = None
    ) -> "ProjectingExecutor":
        """Return a copy for one request, as `build_per_event_executor` does for an event.

        What is not replaced here is only read, or for coroutines and `@stream`, which are not used here.
        """
        copy = object.__new__(type(self))
        vars(copy).update(
            vars(self),
            context_value=context,
            variable_values=variables,
            hide_suggestions=hide_suggestions,
            room=room,
            collected_errors=CollectedErrors(),
            _relevant_sub_fields={},
        )
        return copy

    def execute_root_field(self, kind: GraphQLObjectType, root: RootField) -> Any:
        """Resolve and complete a field of the root type, as `execute_field` does.

        Raises `ResponseTooLarge` for a query. A mutation whose result may exceed the limit runs in a transaction. If it
        does exceed it, the mutation is rolled back and its field has the error: a client never has to guess whether it
        was carried out, and the other mutations keep their results.
        """
        self.root, room = root, self.room
        info = self.build_resolve_info(root.field, root.nodes, kind, root.path)
        try:
            if self.room is None or kind is not self.schema.mutation_type:
                return self.resolve_root_field(root, info)
            with transaction.atomic():
                return self.resolve_root_field(root, info)
        except ResponseTooLarge as error:
            # Frames that refer to the error would keep what was read in memory, until the garbage collector runs.
            error.with_traceback(None)
            if kind is not self.schema.mutation_type:
                raise
            self.room = room
            undone = ResponseTooLarge(error.most, " The mutation was rolled back.")
            super().handle_field_error(undone, root.field.type, root.details, root.path)
            return None
        except Exception as error:  # noqa: BLE001 - whatever a resolver raises is an error of its field
            self.handle_field_error(error, root.field.type, root.details, root.path)
            return None

    def resolve_root_field(self, root: RootField, info: GraphQLResolveInfo[Any]) -> Any:
        arguments = root.read_arguments(self.variable_values) if root.read_arguments else {}
        resolve = root.field.resolve or self.field_resolver
        if info.parent_type is self.schema.mutation_type and isinstance(root.projection, Projection):
            request = self.reading_of(
                get_named_type(root.field.type), root.projection, root.details, root.path, is_list=False
            )
            with returning(request) as selection:
                result = resolve(None, info, **arguments)
            text = selection.get_json(result)
            if text is not None:
                self.take_room(len(text))
                return msgspec.Raw(text)
        else:
            result = resolve(None, info, **arguments)
        return self.complete_value(root.field.type, root.details, info, root.path, result, None)

    def take_room(self, size: int) -> None:
        """Count bytes toward the size of the response. Raises `ResponseTooLarge`."""
        if self.room is not None:
            self.room -= size
            if self.room < 0:
                raise ResponseTooLarge(settings.ENVIRONMENT.contentapi_max_response)

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> Any:
        kind = get_named_type(return_type)
        projection = get_projection(kind)
        if not is_projected(projection, result):
            return super().complete_value(return_type, field_details_list, info, path, result, position_context)
        rows = select_instance(result, info.context["actor"]) if isinstance(result, Model) else result
        model = (rows.rows if isinstance(rows, ConnectionQuery) else rows).model
        if get_model(projection) is not model:
            raise TypeError(f"{info.parent_type}.{info.field_name} is resolved to rows of {model.__name__}.")
        is_list = is_list_type(get_nullable_type(return_type))
        texts = read_json(rows, self.reading_of(kind, projection, field_details_list, path, is_list=is_list))
        if is_list:
            array = json_array(texts)
            self.take_room(len(array))
            return msgspec.Raw(array)
        if len(texts) > 1:
            raise TypeError(f"{info.parent_type}.{info.field_name} is one object, and was resolved to {len(texts)}.")
        if not texts and is_non_null_type(return_type):
            raise TypeError(f"Cannot return null for non-nullable field {info.parent_type}.{info.field_name}.")
        if not texts:
            return None
        self.take_room(len(texts[0]))
        return msgspec.Raw(texts[0])

    def handle_field_error(
        self, raw_error: Exception, return_type: GraphQLOutputType, field_details_list: FieldDetailsList, path: Path
    ) -> None:
        """Collect an error, or let it go on to the parent; one of a selected field has its own place.

        A response that is too large is no error of one field: `execute_root_field` decides what becomes of it.
        """
        if isinstance(raw_error, ResponseTooLarge):
            raise raw_error
        if isinstance(raw_error, SelectedFieldError):
            source, position, place = raw_error.selected.origin
            cause = raw_error.cause
            raw_error = GraphQLError(str(cause), None, source, [position], place, original_error=cause)
        super().handle_field_error(raw_error, return_type, field_details_list, path)

    def reading_of(
        self,
        kind: GraphQLNamedType,
        projection: Projection | ConnectionType,
        details: FieldDetailsList,
        path: Path,
        *,
        is_list: bool,
    ) -> SelectionRequest:
        """Return what is selected of the rows behind a field."""
        return SelectionRequest(
            projection,
            self.key_of(details),
            len(source_location(self.operation)[0].body),
            lambda: self.selection_of(cast("GraphQLObjectType", kind), details, path, is_list),
            self.context_value["actor"],
            self.variable_values,
            self.room,
        )

    def key_of(self, details: FieldDetailsList) -> Hashable:
        """Return what stands for a selection: the document, the places in it, and what varies between requests."""
        root = self.root if self.root is not None and self.root.details is details else None
        if root is not None and not root.varies:
            return root.place
        place = selection_key(self.operation, details) if root is None else root.place
        return place, tuple([(name, variable_shape(value)) for name, value in self.variable_values.coerced.items()])

    def selection_of(
        self,
        kind: GraphQLObjectType,
        details: FieldDetailsList,
        path: Path,
        is_list: bool,  # noqa: FBT001
    ) -> tuple[SelectedField, ...]:
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
    ) -> SelectedField:
        self.fields_selected += 1
        most = settings.ENVIRONMENT.contentapi_max_fields
        if self.fields_selected > most:
            raise limit_exceeded("number of fields", f"{most + 1} or more", most, "contentapi_max_fields")
        node = details[0].node
        field = self.schema.get_field(kind, node.name.value)
        if field is None:
            raise TypeError(f"{kind} has no field {node.name.value}: the document was not validated.")
        named = get_named_type(field.type)
        is_list = in_list or is_list_type(get_nullable_type(field.type))
        return SelectedField(
            key,
            node.name.value,
            compile_argument_reader(field, node) if field.args else None,
            self.selection_of(named, details, path, is_list) if isinstance(named, GraphQLObjectType) else (),
            origin=(*source_location(node), path.as_list()),
        )


def is_projected(projection: Projection | RelayType | None, result: Any) -> TypeGuard[Projection | ConnectionType]:
    if isinstance(projection, ConnectionType):
        return isinstance(result, ConnectionQuery)
    return isinstance(projection, Projection) and isinstance(result, Model | QuerySet)


def get_model(projection: Projection | ConnectionType) -> type[Model]:
    return projection.node.model if isinstance(projection, ConnectionType) else projection.model


def source_location(node: Node) -> tuple[Source, int]:
    """Return where a node stands: the text, and the place in it."""
    if node.loc is None:
        raise TypeError("A document that is projected needs its locations.")
    return node.loc.source, node.loc.start


def selection_key(operation: OperationDefinitionNode, details: FieldDetailsList) -> Hashable:
    """Return what stands for what is selected of some fields: the document, and the places in it."""
    source, position = source_location(operation)
    return source.body, position, tuple(source_location(detail.node)[1] for detail in details)


def variable_shape(value: Any) -> Hashable:
    """Return what of a variable's value can decide the structure of a statement: that it is there, what it switches,
    which order or member of an enum it names.
    """
    if value is None or isinstance(value, bool | Enum | Ordering):
        return value
    if isinstance(value, dict):
        return tuple((name, variable_shape(member)) for name, member in value.items())
    return ...
