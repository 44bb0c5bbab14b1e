"""Execute the fields of one request: where a resolver returns rows, one statement reads their whole selection."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

import msgspec
from django.db.models import Model, QuerySet
from graphql import (
    Executor,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    ResponsePath,
    VariableValues,
    default_field_resolver,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
)
from graphql.execution.collect_fields import FieldDetailsList, collect_subfields

from contentapi.conf import conf
from contentapi.core.errors import LimitExceeded, ResponseTooLarge
from contentapi.core.text import consume_into_json_array
from contentapi.graphql.errors import is_schema_hidden
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.graphql.execution.cache_keys import get_selection_key, get_source_location, get_variable_shape
from contentapi.graphql.execution.fields import NO_ASYNC_HELPERS, VALUES, WITHOUT_ASYNC_WORK, ReturnedType, RootField
from contentapi.graphql.limits import build_limit_error
from contentapi.graphql.root_fields import Info, RequestContext
from contentapi.monitoring.traces import trace
from contentapi.projection import Projection
from contentapi.projection.inserts import InsertedRowSelection
from contentapi.projection.querysets import QuerySetRows, Rows, select_instance
from contentapi.projection.selections import SelectedField, SelectedFieldError
from contentapi.projection.statements import SelectionRequest, read_json


class ProjectingExecutor(Executor[None]):
    """graphql-core's executor for one request, which reads rows by projection.

    A resolver of a projected type returns a QuerySet or a saved instance of the type's model; for a connection, a
    `ConnectionQuery`; for `Node`, a `NodeQuery`. One statement then reads the whole selection, and PostgreSQL's bytes
    become the value. Any other value is completed by graphql-core.
    """

    root: RootField | None = None  # the root field that is being executed
    room: int | None = None  # bytes left for rows in the response; None for no limit
    isolate: Callable[[], AbstractContextManager[Any]] | None = None  # around each mutation
    fields_selected = 0  # fields in the selections of this request that were compiled, with fragments expanded

    def __init__(
        self,
        prepared: Mapping[str, Any],
        document_size: int,
        context_value: RequestContext,
        variable_values: VariableValues,
    ) -> None:
        self.prepared: Mapping[str, Any] | None = prepared
        self.context_value = context_value
        self.variable_values = variable_values
        self.document_size = document_size

    def initialise(self) -> None:
        """Initialise graphql-core's executor. To read rows by a statement that is cached, it is not needed."""
        prepared, self.prepared = self.prepared, None
        if prepared is not None:
            given = {"context_value": self.context_value, "variable_values": self.variable_values}
            super().__init__(**prepared, **given, hide_suggestions=is_schema_hidden())
            self.async_helpers = NO_ASYNC_HELPERS

    @property
    def errors(self) -> list[GraphQLError]:
        """The errors of the fields so far."""
        return [] if self.prepared is not None else self.collected_errors.errors

    def execute_root_field(self, root: RootField) -> Any:
        """Resolve and complete a root field, as `execute_field` does.

        Any exception of a resolver is an error of its field, except that a query raises `LimitExceeded`: it concerns
        the whole operation. A mutation runs in a transaction if its result may exceed the size of a response, or has
        arguments that may be refused. Then the mutation is rolled back and its field gets the error. Other mutations
        keep their results.
        """
        self.root, room = root, self.room
        try:
            if self.isolate is None:
                return self.resolve_root_field(root)
            with self.isolate():
                return self.resolve_root_field(root)
        except ResponseTooLarge as error:
            # The frames of the traceback would keep the rows in memory until the garbage collector runs.
            error.with_traceback(None)
            if not root.is_mutation:
                raise
            self.room = room
            self.initialise()
            rolled_back = ResponseTooLarge(error.most, " The mutation was rolled back.")
            super().handle_field_error(rolled_back, root.field.type, root.details, root.path)
            return None
        except Exception as error:
            if isinstance(error, LimitExceeded) and not root.is_mutation:
                raise
            self.handle_field_error(error, root.field.type, root.details, root.path)
            return None

    def trace_root_field(self, root: RootField) -> Any:
        """Execute a root field in a span, which gets the type of the field's first error."""
        name, before = root.nodes[0].name.value, len(self.errors)
        with trace(f"field {name}", {"graphql.field.name": name}) as fail:
            value = self.execute_root_field(root)
            if len(self.errors) > before:
                error = self.errors[before]
                fail(type(error.original_error or error).__name__)
            return value

    def resolve_root_field(self, root: RootField) -> Any:
        arguments = root.read_arguments(self.variable_values) if root.read_arguments else {}
        resolve: Callable[..., Any] = root.field.resolve or default_field_resolver
        # `__typename` and other fields that no SDL defines need all of it.
        info = Info(self.context_value) if root.field.ast_node else self.build_info(root)
        if root.is_mutation and isinstance(root.returned.projection, Projection):
            request = self.build_selection_request(root.returned, root.details, root.path)
            with InsertedRowSelection(request) as selection:
                result = resolve(None, info, **arguments)
            text = selection.get_json(result)
            if text is not None:
                self.count_output(len(text))
                return msgspec.Raw(text)
        else:
            result = resolve(None, info, **arguments)
        if isinstance(result, root.returned.classes):
            return self.read_rows(root.returned, root.details, root.path, result)
        if root.nodes[0].selection_set is not None:
            self.initialise()
        return self.complete_value(root.field.type, root.details, self.build_info(root), root.path, result, None)

    def build_info(self, root: RootField) -> GraphQLResolveInfo[Any]:
        return GraphQLResolveInfo._make((*root.info, self.variable_values, self.context_value, *WITHOUT_ASYNC_WORK))

    def count_output(self, size: int) -> None:
        """Count bytes toward the size of the response. Raises `ResponseTooLarge`."""
        if self.room is not None:
            self.room -= size
            if self.room < 0:
                raise ResponseTooLarge(conf.environment.contentapi_max_response)

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: ResponsePath,
        result: Any,
        position_context: None,
    ) -> Any:
        if isinstance(result, VALUES):
            returned = ReturnedType.of(return_type)
            if isinstance(result, returned.classes):
                return self.read_rows(returned, field_details_list, path, result)
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)

    def read_rows(self, returned: ReturnedType, details: FieldDetailsList, path: ResponsePath, result: Any) -> Any:
        """Return the JSON of a value of one of the classes of the type, by one statement."""
        rows = result
        if type(result) is not Rows:  # nearly always: to ask for the others takes as long as a look-up of a statement
            if isinstance(result, Model):
                rows = select_instance(result, self.context_value["actor"])
            elif isinstance(result, QuerySet):
                rows = QuerySetRows.of(result)
        if rows.model is not returned.model:
            raise TypeError(f"{describe_field(details, path)} is resolved to rows of {rows.model.__name__}.")
        texts = read_json(rows, self.build_selection_request(returned, details, path))
        if returned.is_list:
            array = consume_into_json_array(texts)
            self.count_output(len(array))
            return msgspec.Raw(array)
        if len(texts) > 1:
            raise TypeError(f"{describe_field(details, path)} is one object, and was resolved to {len(texts)}.")
        if not texts and returned.is_non_null:
            raise TypeError(f"Cannot return null for non-nullable field {describe_field(details, path)}.")
        if not texts or texts[0] == b"null":  # there is no node
            return None
        self.count_output(len(texts[0]))
        return msgspec.Raw(texts[0])

    def handle_field_error(
        self,
        raw_error: Exception,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        path: ResponsePath,
    ) -> None:
        """Collect an error, or raise it for the parent field. An error of a nested field gets that field's location.

        `ResponseTooLarge` is not an error of one field: `execute_root_field` handles it.
        """
        if isinstance(raw_error, ResponseTooLarge):
            raise raw_error
        if isinstance(raw_error, SelectedFieldError):
            source, position, place = raw_error.selected.origin
            cause = raw_error.cause
            raw_error = GraphQLError(str(cause), None, source, [position], place, original_error=cause)
        self.initialise()
        super().handle_field_error(raw_error, return_type, field_details_list, path)

    def build_selection_request(
        self, returned: ReturnedType, details: FieldDetailsList, path: ResponsePath
    ) -> SelectionRequest:
        root = self.root
        if root is None or root.details is not details:
            key: Hashable = get_selection_key(self.operation, details), self.get_shapes()
        else:
            key = (root.place, self.get_shapes()) if root.varies else root.place
        return SelectionRequest(
            returned.projection,
            key,
            self.document_size,
            lambda: self.select_fields_of_types(returned.named, details, path, returned.is_list),
            self.context_value["actor"],
            self.variable_values,
            self.room,
        )

    def get_shapes(self) -> Hashable:
        return tuple([(name, get_variable_shape(value)) for name, value in self.variable_values.coerced.items()])

    def select_fields_of_types(
        self,
        kind: GraphQLNamedType,
        details: FieldDetailsList,
        path: ResponsePath,
        is_list: bool,  # noqa: FBT001
    ) -> tuple[SelectedField, ...]:
        """Return the selected fields of an object type, or an entry for each possible type of an interface."""
        self.initialise()
        if isinstance(kind, GraphQLInterfaceType):
            return tuple(
                SelectedField(each.name, each.name, None, self.select_fields(each, details, path, is_list))
                for each in self.schema.get_possible_types(kind)
            )
        return self.select_fields(cast("GraphQLObjectType", kind), details, path, is_list)

    def select_fields(
        self,
        kind: GraphQLObjectType,
        details: FieldDetailsList,
        path: ResponsePath,
        is_list: bool,  # noqa: FBT001
    ) -> tuple[SelectedField, ...]:
        """Return the selected fields of a type, with fragments merged and `@skip` and `@include` applied.

        A path ends at the first list, because a field fails for all items of a list at once.
        """
        collected = collect_subfields(
            self.schema, self.fragments, self.variable_values, self.operation, kind, details, self.hide_suggestions
        )
        self.fields_selected += len(collected.grouped_field_set)
        most = conf.environment.contentapi_max_fields
        if self.fields_selected > most:
            raise build_limit_error("number of fields", f"{most + 1} or more", most, "contentapi_max_fields")
        selected = []
        for key, found in collected.grouped_field_set.items():
            node = found[0].node
            field: Any = self.schema.get_field(kind, node.name.value)
            named = get_named_type(field.type)
            place = path if is_list else path.add_key(key)
            selection: tuple[SelectedField, ...] = ()
            if is_composite_type(named):
                in_list = is_list or is_list_type(get_nullable_type(field.type))
                selection = self.select_fields_of_types(named, found, place, in_list)
            read_arguments = compile_argument_reader(field, node) if field.args else None
            origin = (*get_source_location(node), place.as_list())
            selected.append(SelectedField(key, node.name.value, read_arguments, selection, origin))
        return tuple(selected)


def describe_field(details: FieldDetailsList, path: ResponsePath) -> str:
    return f"{path.typename}.{details[0].node.name.value}"
