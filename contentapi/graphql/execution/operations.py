"""Prepare the operations of a document once, and execute them for each request.

The types of variables, the root fields and their arguments are equal in all requests. graphql-core would compute them
in each request, which takes longer than a small statement. Its executor completes values and locates errors.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from django.db import transaction
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    ResponsePath,
    Undefined,
    VariableValues,
    default_field_resolver,
    default_type_resolver,
    get_variable_values,
)
from graphql.execution.collect_fields import FieldDetailsList, FragmentDetails, collect_fields
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.execution.values import VariableValueSource

from contentapi.conf import conf
from contentapi.graphql.costs import OperationCost
from contentapi.graphql.errors import is_schema_hidden
from contentapi.graphql.execution.arguments import compile_argument_reader, have_arguments_below
from contentapi.graphql.execution.cache_keys import get_selection_key, get_source_location
from contentapi.graphql.execution.coercion import Coercion
from contentapi.graphql.execution.executor import ProjectingExecutor
from contentapi.graphql.execution.fields import NO_ASYNC_HELPERS, ReturnedType, RootField, is_async_value
from contentapi.graphql.execution.introspection import INTROSPECTIONS, Introspection, IntrospectionExecutor, introspect
from contentapi.graphql.limits import INTROSPECTION, is_atomic
from contentapi.graphql.root_fields import RequestContext
from contentapi.graphql.transactions import TransactionMode
from contentapi.monitoring.records import current_record

MAX_ERRORS = 50  # in the variables of a request
MAX_KEY = 200  # characters of variables in a cache key, which the cache does not count


class CoercedVariables(msgspec.Struct):
    """graphql-core's `VariableValues`, whose sources few requests need."""

    signatures: Sequence[tuple[str, Any, Any, Any]]
    given: Mapping[str, Any]
    coerced: dict[str, Any]

    @property
    def sources(self) -> dict[str, VariableValueSource]:
        given = self.given
        return {name: VariableValueSource(each, given.get(name, Undefined)) for name, each, *_ in self.signatures}


class DocumentFragments:
    """The fragments of a document, shared by its operations."""

    def __init__(self, document: DocumentNode) -> None:
        nodes = [node for node in document.definitions if isinstance(node, FragmentDefinitionNode)]
        self.definitions = {node.name.value: node for node in nodes}
        self.details = {node.name.value: FragmentDetails(node) for node in nodes}


def get_introspected_values(introspection: Introspection, executor: ProjectingExecutor) -> Mapping[str, msgspec.Raw]:
    if introspection.error is not None:
        raise introspection.error
    executor.count_output(introspection.size)
    return {key: msgspec.Raw(value) for key, value in introspection.values.items()}


class Operation:
    """One operation of a document. Several threads may execute it at once."""

    def __init__(
        self, schema: GraphQLSchema, fragments: DocumentFragments, node: OperationDefinitionNode, cost: OperationCost
    ) -> None:
        self.schema = schema
        self.node = node
        self.cost = cost
        self.checked_against: object = None  # the settings with whose limits it complies
        self.fragments = fragments
        self.root_type: Any = schema.get_root_type(node.operation)
        self.is_atomic = is_atomic(node)
        text = get_source_location(node)[0].body
        self.document_size = len(text)
        self.varies = "@" in text  # it may contain @skip or @include
        self.info = schema, fragments.definitions, None, node  # the same for all root fields
        self.prepared: dict[str, Any] = {  # what graphql-core's executors need, beside the context and the variables
            "schema": schema,
            "fragment_definitions": fragments.definitions,
            "fragments": fragments.details,
            "root_value": None,
            "operation": node,
            "field_resolver": default_field_resolver,
            "type_resolver": default_type_resolver,
            "subscribe_field_resolver": default_field_resolver,
            "is_awaitable": is_async_value,
            "is_async_iterable": is_async_value,
        }
        # Not cached properties: these give an object a dictionary that makes each look-up of an attribute slower.
        found: list[Any] = [get_variable_signature(schema, each) for each in node.variable_definitions or ()]
        self.signatures = [(each.name, each, *Coercion.to(each.type)) for each in found]
        self.constant_fields = [] if self.varies else self.collect_root_fields(VariableValues({}, {}))
        # Whether a field below a mutation has arguments. Their values may be refused after the mutation was made.
        self.selects_with_arguments = have_arguments_below(
            [*node.selection_set.selections, *fragments.definitions.values()]
        )

    def execute(
        self,
        variables: Mapping[str, Any],
        context: RequestContext,
        introspection: Introspection | None = None,
        *,
        mode: TransactionMode | None = None,
    ) -> ExecutionResult:
        """Execute the root fields in order. `introspection` has the values of the introspection fields, if any.

        With a mode, the caller has begun the transaction. Raises `ResponseTooLarge` for a query.
        """
        values = self.coerce_variables(variables)
        if isinstance(values, list):
            return ExecutionResult(None, values)
        executor = ProjectingExecutor(self.prepared, self.document_size, context, values)
        executor.room = self.response_byte_limit
        if mode is not None:
            executor.isolate = mode.isolate
        elif self.cost.writes and (executor.room is not None or self.selects_with_arguments):
            executor.isolate = transaction.atomic
        try:
            fields = self.collect_root_fields(values) if self.varies else self.constant_fields
            introspected = get_introspected_values(introspection, executor) if introspection else {}
            execute = executor.execute_root_field if current_record.get().trace is None else executor.trace_root_field
            data: dict[str, Any] = {}
            for field in fields:
                data[field.key] = introspected.get(field.key) or execute(field)
                if mode is not None and executor.errors and mode.must_end(executor.errors):
                    return ExecutionResult(None, executor.errors)
        except GraphQLError as error:  # of a field of a non-null type, or of a directive whose argument is null
            executor.initialise()
            executor.collected_errors.add(error, None)
            return ExecutionResult(None, executor.errors)
        return ExecutionResult(data, executor.errors or None)

    @property
    def response_byte_limit(self) -> int | None:
        """The number of bytes that the rows in the response may have; None if they cannot exceed the limit.

        A mutation that returns few scalars cannot, because no scalar is longer than the request that wrote it. Without
        a limit it needs no transaction of its own.
        """
        environment = conf.environment
        most: int = environment.contentapi_max_response
        is_small = self.cost.writes and self.cost.leaves * environment.contentapi_max_body <= most
        return None if is_small else most

    def introspect(
        self, variables: Mapping[str, Any], *, before_work: Callable[[], None] = lambda: None
    ) -> Introspection | None:
        """Return the values of the introspection fields; None if a variable is invalid, which `execute` reports.

        Calls `before_work` unless the values are cached, and raises what it raises.
        """
        values = self.coerce_variables(variables)
        if isinstance(values, list):
            return None
        # The variables of introspection fields and directives are strings and booleans, so the key can be hashed.
        size = sum(len(value) for value in values.coerced.values() if isinstance(value, str))
        is_cacheable = self.cost.is_only_introspection and size <= MAX_KEY
        is_constant = is_cacheable or not values.coerced  # so that a refusal depends on the document alone
        key = (self.schema, self.digest, tuple(values.coerced.items())) if is_constant else None
        found = INTROSPECTIONS.get(key)
        if found is None:
            before_work()
            executor = IntrospectionExecutor(
                **self.prepared, context_value=None, variable_values=values, hide_suggestions=True
            )
            executor.async_helpers = NO_ASYNC_HELPERS
            try:
                fields = self.collect_root_fields(values) if self.varies else self.constant_fields
            except GraphQLError:  # a directive whose argument is null, which `execute` reports
                return None
            roots = [field for field in fields if field.nodes[0].name.value in INTROSPECTION]
            found = introspect(executor, roots, self.root_type)
            if is_constant and found.error is None and (is_cacheable or found.refusal):
                INTROSPECTIONS.put(key, found)
        return found

    @property
    def digest(self) -> bytes:
        """The SHA-256 of the document, and the operation's position in it: the document itself may be long."""
        source, position = get_source_location(self.node)
        return sha256(f"{position} {source.body}".encode()).digest()

    def coerce_variables(self, given: Mapping[str, Any]) -> Any:
        """Return the coerced values of the variables, or the errors in them, as `get_variable_values` does."""
        values: dict[str, Any] = {}
        for name, signature, null, coerce in self.signatures:
            value = given.get(name, Undefined)
            if value is Undefined and null is None and signature.default is None:
                continue
            coerced = null if value is None else value if value is Undefined else coerce(value)
            if coerced is Undefined:  # graphql-core finds the default or the error
                definitions = self.node.variable_definitions or ()
                return get_variable_values(self.schema, definitions, dict(given), MAX_ERRORS, is_schema_hidden())
            values[name] = coerced
        return CoercedVariables(self.signatures, given, values)

    def collect_root_fields(self, values: VariableValues) -> list[RootField]:
        """Return the fields of the root type, with fragments merged and `@skip` and `@include` applied."""
        found = collect_fields(self.schema, self.fragments.details, values, self.root_type, self.node)
        return [self.build_root_field(key, details) for key, details in found.grouped_field_set.items()]

    def build_root_field(self, key: str, details: FieldDetailsList) -> RootField:
        nodes = [detail.node for detail in details]
        node = nodes[0]
        field: Any = self.schema.get_field(self.root_type, node.name.value)
        path = ResponsePath(None, key, self.root_type.name)
        return RootField(
            key,
            field,
            details,
            nodes,
            path,
            compile_argument_reader(field, node) if field.args else None,
            ReturnedType.of(field.type),
            (*(node.name.value, nodes, field.type, self.root_type, path), *self.info),
            self.node.operation is OperationType.MUTATION,
            get_selection_key(self.node, details),
            not all(map(has_constant_selection, nodes)),
        )


def has_constant_selection(node: FieldNode) -> bool:
    """Return whether the text of a field's selection contains neither variables nor fragments."""
    if node.loc is None or node.selection_set is None or node.selection_set.loc is None:
        return False
    start, end = node.selection_set.loc.start, node.selection_set.loc.end
    selection = node.loc.source.body[start:end]
    return "$" not in selection and "..." not in selection
