"""Execute the introspection fields, `__schema` and `__type`, within limits, and write their values as JSON.

Introspection reads only the schema, so its result depends only on the selection and the variables. The result is built
as a graph in which equal objects are one part: the same fragment under five aliases of `types` is built once. A part
knows the number of its objects and bytes. A result over a limit is therefore rejected before it is written, and the
time does not grow with repetitions.

Directives and arguments are applied before objects are counted, so the cost is the exact number of objects.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, cast

import msgspec
from graphql import (
    GraphQLError,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    located_error,
)
from graphql.execution.collect_fields import FieldDetailsList, collect_subfields

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import ResponseTooLarge
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.execution.arguments import compile_argument_reader
from contentapi.graphql.execution.executor import ProjectingExecutor, RootField
from contentapi.graphql.limits import require_count_within_limit


class Introspection(NamedTuple):
    """The values of the introspection fields of an operation by their keys, or the error instead of them."""

    objects: int = 0  # in the values; each costs 1
    values: Mapping[str, bytes] = {}
    error: GraphQLError | None = None

    @property
    def size(self) -> int:
        return sum(map(len, self.values.values()))


# The values of operations that have only introspection fields, by document, operation and variables. They depend
# neither on the caller nor on the time.
INTROSPECTIONS: BoundedCache[Introspection] = BoundedCache(
    conf.environment.contentapi_introspection_cache, weigh=lambda found: 1000 + found.size, name="introspections"
)


class JsonPart:
    """A JSON value under construction: texts and other parts, which several parts can share."""

    __slots__ = ("objects", "pieces", "size")

    def __init__(self, pieces: Sequence["bytes | JsonPart"], objects: int) -> None:
        self.pieces = pieces
        self.objects: int = objects
        self.size: int = 0
        for piece in pieces:
            if isinstance(piece, bytes):
                self.size += len(piece)
            else:
                self.objects += piece.objects
                self.size += piece.size

    def render(self) -> bytes:
        texts: list[bytes] = []
        self.write(texts)
        return b"".join(texts)

    def write(self, texts: list[bytes]) -> None:
        for piece in self.pieces:
            if isinstance(piece, bytes):
                texts.append(piece)
            else:
                piece.write(texts)


class IntrospectedField:
    """A selected field of an introspection type, merged from all fields with its response key."""

    def __init__(
        self, builder: "IntrospectionBuilder", kind: GraphQLObjectType, key: str, details: FieldDetailsList
    ) -> None:
        node = details[0].node
        self.builder = builder
        self.details = details
        self.key = msgspec.json.encode(key) + b":"
        self.typename = msgspec.json.encode(kind.name) if node.name.value == "__typename" else None
        field: Any = builder.executor.schema.get_field(kind, node.name.value)
        self.field = field
        self.arguments: Mapping[str, Any] = {}
        if field.args:
            self.arguments = compile_argument_reader(field, node)(builder.executor.variable_values)

    @cached_property
    def selection(self) -> Sequence["IntrospectedField"]:
        """The selected fields of this field's value, collected when the first object needs them."""
        return self.builder.collect_selection(get_named_type(self.field.type), self.details)


class IntrospectionBuilder:
    """Builds the introspection fields of one operation, for given variables. Raises `LimitExceeded` or `GraphQLError`.

    graphql-core collects and resolves the fields. The builder completes and writes their values.
    """

    def __init__(self, executor: ProjectingExecutor) -> None:
        self.executor = executor
        self.selections: dict[tuple[int, ...], Sequence[IntrospectedField]] = {}  # by the identities of the fields
        self.parts: dict[Any, JsonPart] = {}  # by selection, and identity of the element of the schema
        self.fields_selected = 0
        self.objects_visited = 0
        self.room = conf.environment.contentapi_max_response

    def build(self, root: RootField, info: GraphQLResolveInfo[Any]) -> JsonPart:
        arguments = root.read_arguments(self.executor.variable_values) if root.read_arguments else {}
        self.info = info  # the resolvers of introspection read only its schema
        resolve: Any = root.field.resolve
        element = resolve(None, info, **arguments)
        if element is None:
            return JsonPart([b"null"], 0)
        kind = cast("GraphQLObjectType", get_named_type(root.field.type))
        return self.build_object(element, self.collect_selection(kind, root.details))

    def release(self) -> None:
        """Drop selections and parts. Their references to the builder would keep all of them in memory."""
        self.selections.clear()
        self.parts.clear()

    def collect_selection(self, kind: GraphQLObjectType, details: FieldDetailsList) -> Sequence[IntrospectedField]:
        key = tuple(id(detail.node) for detail in details)
        selection = self.selections.get(key)
        if selection is None:
            executor = self.executor
            collected = collect_subfields(
                executor.schema, executor.fragments, executor.variable_values, executor.operation, kind, details
            )
            groups = collected.grouped_field_set
            self.fields_selected += len(groups)
            require_count_within_limit(self.fields_selected, "number of fields", "contentapi_max_fields")
            selection = [IntrospectedField(self, kind, name, found) for name, found in groups.items()]
            self.selections[key] = selection
        return selection

    def build_object(self, element: Any, selection: Sequence[IntrospectedField]) -> JsonPart:
        """Return the selected fields of an element of the schema: a type, a field with its name, and so on."""
        # Each visit adds an object to the result, so this also limits the time for a result within the limits.
        self.objects_visited += 1
        require_count_within_limit(self.objects_visited, "cost", "contentapi_max_cost")
        identity = (element[0], id(element[1])) if type(element) is tuple else id(element)
        key = (id(selection), identity)
        part = self.parts.get(key)
        if part is None:
            pieces: list[bytes | JsonPart] = []
            separator = b"{"
            for field in selection:
                pieces += (separator, field.key, self.build_value(element, field))
                separator = b","
            pieces.append(b"}" if selection else b"{}")
            part = self.parts[key] = JsonPart(join_parts(pieces), 1)
            self.room -= sum(len(piece) for piece in part.pieces if type(piece) is bytes)
            if self.room < 0:
                raise ResponseTooLarge(conf.environment.contentapi_max_response)
        return part

    def build_value(self, element: Any, field: IntrospectedField) -> "bytes | JsonPart":
        if field.typename is not None:
            return field.typename
        value = field.field.resolve(element, self.info, **field.arguments)
        return self.complete(field.field.type, value, field)

    def complete(self, declared: GraphQLOutputType, value: Any, field: IntrospectedField) -> "bytes | JsonPart":
        if value is None:
            return b"null"
        kind = get_nullable_type(declared)
        if is_list_type(kind):
            pieces: list[bytes | JsonPart] = [b"["]
            for item in value:
                pieces += (self.complete(kind.of_type, item, field), b",")
            pieces[-1] = b"]" if len(pieces) > 1 else b"[]"
            return JsonPart(join_parts(pieces), 0)
        if is_leaf_type(kind):
            return msgspec.json.encode(kind.coerce_output_value(value))
        return self.build_object(value, field.selection)


def join_parts(pieces: Iterable["bytes | JsonPart"]) -> list["bytes | JsonPart"]:
    """Join adjacent texts, so that writing a part takes few steps."""
    found: list[bytes | JsonPart] = []
    for is_part, group in groupby(pieces, lambda piece: type(piece) is JsonPart):
        adjacent = list(group)
        found += adjacent if is_part else [b"".join(cast("list[bytes]", adjacent))]
    return found


def introspect(executor: ProjectingExecutor, roots: Sequence[RootField], root_type: GraphQLObjectType) -> Introspection:
    """Return the values of introspection fields. Raises `LimitExceeded` before anything is written."""
    builder = IntrospectionBuilder(executor)
    parts: dict[str, JsonPart] = {}
    try:
        for root in roots:
            info = executor.build_resolve_info(root.field, root.nodes, root_type, root.path)
            parts[root.key] = builder.build(root, info)
    except GraphQLError as error:  # a variable gives null to a directive or an argument
        return Introspection(error=located_error(error, root.nodes, root.path.as_list()))
    finally:
        builder.release()
    objects = sum(part.objects for part in parts.values())
    require_cost_within_limit(objects)
    most_bytes = conf.environment.contentapi_max_response
    if sum(part.size for part in parts.values()) > most_bytes:
        raise ResponseTooLarge(most_bytes)
    return Introspection(objects, {key: part.render() for key, part in parts.items()})
