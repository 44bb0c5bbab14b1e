"""Operations of valid documents, made ready to be executed: what is the same in each request is done once.

graphql-core's executor does the rest, as it does for any schema: it completes values and locates errors. Its own way to
the root fields (variables' types, fields collected, each looked up) would take longer than a small statement.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, NoReturn, cast

import msgspec
from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLResolveInfoHelpers,
    GraphQLSchema,
    OperationDefinitionNode,
    Undefined,
    default_field_resolver,
    default_type_resolver,
    get_named_type,
    get_variable_values,
)
from graphql.execution.collect_fields import FieldDetailsList, FragmentDetails, collect_fields
from graphql.execution.execute import assume_not_async_iterable, assume_not_awaitable
from graphql.execution.get_variable_signature import GraphQLVariableSignature, get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource
from graphql.pyutils import Path

from contentapi.conf import conf
from contentapi.graphql.bindings import get_projection
from contentapi.graphql.context import RequestContext
from contentapi.graphql.costs import OperationCost
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.graphql.execution.coercion import Coerce, build_coercer
from contentapi.graphql.execution.executor import ProjectingExecutor, RootField, selection_key, source_location
from contentapi.graphql.execution.introspection import INTROSPECTIONS, Introspection, introspect
from contentapi.graphql.limits import INTROSPECTION

MAX_ERRORS = 50  # of variables
MAX_KEY = 200  # characters of variables


def refuse_async_work(*_: Any) -> NoReturn:
    raise TypeError("Resolvers here are synchronous.")


# An executor's own hold it, as it holds them: the two, and the document that it is for, would stay until the garbage
# collector finds them.
NO_ASYNC_HELPERS = GraphQLResolveInfoHelpers(gather=refuse_async_work, track=refuse_async_work)


class DocumentFragments:
    """The fragments of a document, which its operations share."""

    def __init__(self, document: DocumentNode) -> None:
        nodes = [node for node in document.definitions if isinstance(node, FragmentDefinitionNode)]
        self.definitions = {node.name.value: node for node in nodes}
        self.details = {node.name.value: FragmentDetails(node) for node in nodes}


def is_small_key(values: VariableValues) -> bool:
    """Return whether variables may be part of a cache's key, which does not count in the cache's weight."""
    return sum(len(value) for value in values.coerced.values() if isinstance(value, str)) <= MAX_KEY


class Operation:
    """One operation of a document. Several threads may execute it at once."""

    def __init__(
        self, schema: GraphQLSchema, fragments: DocumentFragments, node: OperationDefinitionNode, cost: OperationCost
    ) -> None:
        self.schema = schema
        self.node = node
        self.cost = cost
        self.within: object = None  # the settings whose limits it has been held to
        self.fragments = fragments
        self.root_type = cast("GraphQLObjectType", schema.get_root_type(node.operation))
        self.varies = "@" in source_location(node)[0].body  # there may be a @skip or @include

    def execute(
        self,
        variables: Mapping[str, Any],
        context: RequestContext,
        *,
        hide_suggestions: bool = False,
        introspection: Introspection | None = None,
    ) -> ExecutionResult:
        """Execute the operation, its root fields one after the other; those of introspection have their values.

        Raises `ResponseTooLarge` for a query.
        """
        values = self.values_of(variables, hide_suggestions=hide_suggestions)
        if isinstance(values, list):
            return ExecutionResult(None, values)
        executor = self.executor.for_request(
            context, values, hide_suggestions=hide_suggestions, room=self.response_byte_limit
        )
        errors = executor.collected_errors
        try:
            fields = self.root_fields(values) if self.varies else self.constant_fields
            if introspection is None:
                data = {field.key: executor.execute_root_field(self.root_type, field) for field in fields}
            else:
                data = self.execute_with_introspection(introspection, executor, fields)
        except GraphQLError as error:  # of a field that must not be null, or of a directive that was given null
            errors.add(error, None)
            return ExecutionResult(None, errors.errors)
        return ExecutionResult(data, errors.errors or None)

    @property
    def response_byte_limit(self) -> int | None:
        """How many bytes the rows in the response may have; None where nothing has to count them.

        A mutation that returns few scalars does not exceed the limit, because none is longer than the request that once
        wrote it. It needs no transaction around it, and so costs what it did.
        """
        environment = conf.environment
        most: int = environment.contentapi_max_response
        is_small = self.cost.writes and self.cost.leaves * environment.contentapi_max_body <= most
        return None if is_small else most

    def execute_with_introspection(
        self, introspection: Introspection, executor: ProjectingExecutor, fields: list[RootField]
    ) -> dict[str, Any]:
        """Execute all fields but those of introspection, whose values are given."""
        if introspection.error is not None:
            raise introspection.error
        executor.take_room(introspection.size)
        return {
            field.key: msgspec.Raw(introspection.values[field.key])
            if field.key in introspection.values
            else executor.execute_root_field(self.root_type, field)
            for field in fields
        }

    def introspect(
        self, variables: Mapping[str, Any], *, before_work: Callable[[], None] = lambda: None
    ) -> Introspection | None:
        """Return the values of the introspection fields; None if a variable is wrong, which `execute` reports.

        Raises `LimitExceeded`, and what `before_work` raises, which is called unless the values are cached.
        """
        values = self.values_of(variables, hide_suggestions=True)
        if isinstance(values, list):
            return None
        # Variables of introspection fields and of directives are strings and booleans, so that the key can be hashed.
        is_cacheable = self.cost.is_only_introspection and is_small_key(values)
        key = self.introspection_key(values) if is_cacheable else None
        found = INTROSPECTIONS.get(key) if is_cacheable else None
        if found is None:
            before_work()
            executor = self.executor.for_request(cast("RequestContext", {}), values, hide_suggestions=True)
            try:
                fields = self.root_fields(values) if self.varies else self.constant_fields
            except GraphQLError:  # a directive at the root that was given null, which `execute` reports
                return None
            roots = [field for field in fields if field.nodes[0].name.value in INTROSPECTION]
            found = introspect(executor, roots, self.root_type)
            if is_cacheable and found.error is None:
                INTROSPECTIONS.put(key, found)
        return found

    def introspection_key(self, values: VariableValues) -> Hashable:
        return self.schema, self.digest, tuple(values.coerced.items())

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of the document, and the operation's position in it: the document itself may be long."""
        source, position = source_location(self.node)
        return sha256(f"{position} {source.body}".encode()).digest()

    @cached_property
    def executor(self) -> ProjectingExecutor:
        """An executor of this operation, for copies to be made of it."""
        executor = ProjectingExecutor(
            self.schema,
            self.fragments.definitions,
            self.fragments.details,
            None,
            None,
            self.node,
            VariableValues({}, {}),
            default_field_resolver,
            default_type_resolver,
            default_field_resolver,
            is_awaitable=assume_not_awaitable,  # resolvers here are synchronous
            is_async_iterable=assume_not_async_iterable,
        )
        executor.async_helpers = NO_ASYNC_HELPERS
        return executor

    def values_of(self, given: Mapping[str, Any], *, hide_suggestions: bool) -> VariableValues | list[GraphQLError]:
        """Return the variables' values, coerced; or what is wrong with them."""
        sources: dict[str, VariableValueSource] = {}
        values: dict[str, Any] = {}
        for name, signature, coerce in self.signatures:
            value = given.get(name, Undefined)
            coerced = Undefined if value is Undefined else coerce(value)
            if coerced is Undefined:  # it is left out, or wrong: what comes of that graphql-core says itself
                definitions = self.node.variable_definitions or ()
                return get_variable_values(self.schema, definitions, dict(given), MAX_ERRORS, hide_suggestions)
            sources[name] = VariableValueSource(signature, value)
            values[name] = coerced
        return VariableValues(sources, values)

    @cached_property
    def signatures(self) -> list[tuple[str, GraphQLVariableSignature, Coerce]]:
        """Return of each variable its name, what is declared, and its coercion."""
        found = [get_variable_signature(self.schema, each) for each in self.node.variable_definitions or ()]
        declared = [cast("GraphQLVariableSignature", each) for each in found]
        return [(each.name, each, build_coercer(each.type)) for each in declared]

    @cached_property
    def constant_fields(self) -> list[RootField]:
        return self.root_fields(VariableValues({}, {}))

    def root_fields(self, values: VariableValues) -> list[RootField]:
        """Return the fields of the root type, fragments merged, and what is skipped left out."""
        found = collect_fields(self.schema, self.fragments.details, values, self.root_type, self.node)
        return [self.root_field(key, details) for key, details in found.grouped_field_set.items()]

    def root_field(self, key: str, details: FieldDetailsList) -> RootField:
        node = details[0].node
        field = cast("GraphQLField", self.schema.get_field(self.root_type, node.name.value))
        path = Path(None, key, self.root_type.name)
        return RootField(
            key,
            field,
            details,
            [detail.node for detail in details],
            path,
            compile_argument_reader(field, node) if field.args else None,
            get_projection(get_named_type(field.type)),
            selection_key(self.node, details),
            not all(has_constant_selection(detail.node) for detail in details),
        )


def has_constant_selection(node: FieldNode) -> bool:
    """Say whether it is plain that what is selected of a field is the same whatever the variables are."""
    if node.loc is None or node.selection_set is None or node.selection_set.loc is None:
        return False
    start, end = node.selection_set.loc.start, node.selection_set.loc.end
    selection = node.loc.source.body[start:end]
    return "$" not in selection and "..." not in selection
