"""Execute the introspection fields, `__schema` and `__type`, within limits.

Introspection reads only the schema, so its result depends only on the selection and the variables. graphql-core
executes it. The executor here counts the objects, which are the cost, and limits the fields of all objects together: a
short document can select very many.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from graphql import Executor, GraphQLError, GraphQLObjectType, GraphQLOutputType, ResponsePath
from graphql.execution.collect_fields import FieldDetailsList, GroupedFieldSet

from contentapi.conf import conf
from contentapi.core.caching import BoundedCache
from contentapi.core.errors import LimitExceeded
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.execution.fields import RootField
from contentapi.graphql.limits import build_limit_error

# Of all objects in the result: at worst 0.4 s of CPU. The standard document has 9,600, and 1,100 for each own type.
MAX_INTROSPECTED_FIELDS = 24_000
STANDARD_OBJECTS = 2_500  # at most, in the result of the standard document and of those of tools
STANDARD_COST = 1_000  # at most, of a result with so many objects: the documents of tools must not become dearer


class Introspection(NamedTuple):
    """The values of the introspection fields of an operation by their keys, or the error instead of them.

    With a `refusal`, the operation is not executed: the values exceed a limit. It has the `fields` that were visited.
    """

    objects: int = 0  # in the values
    values: Mapping[str, bytes] = {}
    error: GraphQLError | None = None
    refusal: LimitExceeded | None = None
    fields: int = 0

    @property
    def cost(self) -> int:
        """The cost: 1 for each object, and at most 1,000 for no more objects than the standard document has.

        If the operation is refused, it is 1 for each field that was visited.
        """
        if self.refusal is not None:
            return self.fields
        return min(self.objects, STANDARD_COST) if self.objects <= STANDARD_OBJECTS else self.objects

    @property
    def size(self) -> int:
        return sum(map(len, self.values.values()))


# The values of operations that have only introspection fields, by document, operation and variables. They depend
# neither on the caller nor on the time. Also the refusals of operations without variables.
INTROSPECTIONS: BoundedCache[Introspection] = BoundedCache(
    conf.environment.contentapi_introspection_cache, weigh=lambda found: 1000 + found.size, name="introspections"
)


class IntrospectionExecutor(Executor[None]):
    """graphql-core's executor, which stops at a limit. That is an error of the whole operation, not of one field."""

    objects = -1  # the root is not counted
    fields = 0

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: ResponsePath | None,
        grouped_field_set: GroupedFieldSet,
        position_context: None,
    ) -> Any:
        self.objects += 1
        self.fields += len(grouped_field_set)
        if self.fields > MAX_INTROSPECTED_FIELDS:
            counted = f"{MAX_INTROSPECTED_FIELDS + 1} or more"
            raise build_limit_error("number of introspected fields", counted, MAX_INTROSPECTED_FIELDS)
        return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)

    def handle_field_error(
        self,
        raw_error: Exception,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        path: ResponsePath,
    ) -> None:
        if isinstance(raw_error, LimitExceeded):
            raise raw_error
        super().handle_field_error(raw_error, return_type, field_details_list, path)


def introspect(
    executor: IntrospectionExecutor, roots: Sequence[RootField], root_type: GraphQLObjectType
) -> Introspection:
    """Return the values of introspection fields, or why there are none."""
    try:
        values = executor.execute_fields(root_type, None, None, {root.key: root.details for root in roots}, None)
        require_cost_within_limit(executor.objects)
    except LimitExceeded as refusal:
        return Introspection(refusal=refusal, fields=executor.fields)
    except GraphQLError as error:  # a variable gives null to a directive or an argument
        return Introspection(error=error)
    if executor.collected_errors.errors:
        return Introspection(error=executor.collected_errors.errors[0])
    return Introspection(executor.objects, {key: msgspec.json.encode(value) for key, value in values.items()})
