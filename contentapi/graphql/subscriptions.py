"""Prepare subscriptions: what a client follows, and the selection with which its values are read.

graphql-core's `subscribe` executes an operation for each event and each client. Here one statement reads many events,
for all clients with equal subscriptions and rights (`contentapi.streams`). A subscription is found in three steps: its
operation, by `get_subscription`; then `Subscription`; then the source that its root field follows.
"""

from collections.abc import Callable, Hashable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from django.db.models import F
from graphql import GraphQLError, GraphQLSchema, OperationType, VariableNode

from contentapi.core.errors import Malformed
from contentapi.core.identity import Actor
from contentapi.graphql.documents import DocumentRejected, get_document
from contentapi.graphql.execution.cache_keys import get_source_location
from contentapi.graphql.execution.executor import ProjectingExecutor
from contentapi.graphql.execution.operations import Operation
from contentapi.graphql.root_fields import Info, RequestContext
from contentapi.projection import Rows
from contentapi.projection.selections import SelectedFieldError
from contentapi.projection.statements import read_json_and_column

PRESENT = "now"


def get_subscription(schema: GraphQLSchema, text: str, name: str | None) -> Operation:
    """Return the operation of a request. Raises `DocumentRejected`, and `Malformed` for a query or a mutation."""
    operation = get_document(schema, text, name).require_operation(name)
    if operation.node.operation is not OperationType.SUBSCRIPTION:
        kind = operation.node.operation.value
        raise Malformed(f"Streams are for subscriptions. Send a {kind} to the API, and accept application/json.")
    return operation


class Subscription:
    """A subscription with its variables and the rights of an actor. Several threads may read its values at once."""

    def __init__(self, operation: Operation, variables: Mapping[str, Any], actor: Actor) -> None:
        """Raises `DocumentRejected`."""
        self.operation = operation
        self.given = variables
        self.context: RequestContext = {"actor": actor}
        values = operation.coerce_variables(variables)
        if isinstance(values, list):
            raise DocumentRejected(values)
        self.values = values
        try:
            fields = operation.collect_root_fields(values) if operation.varies else operation.constant_fields
        except GraphQLError as error:
            raise DocumentRejected([error]) from None
        if len(fields) != 1 or fields[0].field.subscribe is None:
            raise DocumentRejected([GraphQLError("A subscription has one field, without @skip and @include.")])
        (self.root,) = fields

    def follow(self) -> Any:
        """Return what the root field follows, from its source. Raises `DocumentRejected`."""
        root = self.root
        subscribe: Callable[..., Any] = root.field.subscribe  # type: ignore[assignment]  # checked before
        try:
            arguments = root.read_arguments(self.values) if root.read_arguments else {}
            return subscribe(None, Info(self.context), **arguments)
        except Exception as error:
            raise DocumentRejected([self.locate(error)]) from error

    def locate(self, error: Exception) -> GraphQLError:
        """Return an error of the root field with its place in the document."""
        try:
            self.build_executor().handle_field_error(error, self.root.field.type, self.root.details, self.root.path)
        except GraphQLError as located:
            return located
        return GraphQLError(str(error), self.root.nodes, path=self.root.path.as_list(), original_error=error)

    def build_executor(self) -> ProjectingExecutor:
        return ProjectingExecutor(self.operation.prepared, self.operation.document_size, self.context, self.values)

    @property
    def key(self) -> Hashable:
        """What equal subscriptions have in common."""
        return self.operation.digest, blake2b(msgspec.json.encode(self.given, order="sorted")).digest()

    def read_results(self, rows: Rows[Any], room: int) -> list[tuple[bytes, int]]:
        """Return the response for each row, and the position of the row, by one statement.

        `room` is the maximum size of all values in bytes. Raises `DocumentRejected`, `ResponseTooLarge`, and Django's
        database errors.
        """
        executor = self.build_executor()
        executor.root, executor.room = self.root, room
        request = executor.build_selection_request(self.root.returned, self.root.details, self.root.path)
        request.column = F("position")
        try:
            found = read_json_and_column(rows, request)
        except SelectedFieldError as error:
            raise DocumentRejected([self.locate(error)]) from None
        name = msgspec.json.encode(self.root.key)
        return [(b'{"data":{%s:%s}}' % (name, value), int(position)) for value, position in found]

    def replace_cursor(self, name: str) -> Mapping[str, Any]:
        """Return the variables with `now` in place of the cursor in the argument `name` of the root field.

        So equal subscriptions have equal variables, wherever their clients resume. A variable with other uses stays.
        """
        arguments = [argument for node in self.root.nodes for argument in node.arguments or ()]
        values = [argument.value for argument in arguments if argument.name.value == name]
        names = [value.name.value for value in values if isinstance(value, VariableNode)]
        text = get_source_location(self.operation.node)[0].body
        # Beside these arguments, the text has its definition.
        alone = {each for each in names if text.count(f"${each}") == 1 + names.count(each)}
        return {**self.given, **dict.fromkeys(alone, PRESENT)}
