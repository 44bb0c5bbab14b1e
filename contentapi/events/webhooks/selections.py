"""Compile the selection of a webhook: GraphQL fragments that choose the fields of `data`, instead of those of REST.

    fragment Data on Post { title author { name } }

The first fragment on the type of an object is the selection; it may spread the others. They are compiled as a part of
an operation that reads one event, so that its limits and its cost are those of every operation:

    query { events(first: 1) { edges { node { ... on PostEvent { post { ...Data } } } } } } fragment Data on Post …
"""

from collections.abc import Mapping
from importlib import import_module

from django.conf import settings
from graphql import FragmentDefinitionNode, GraphQLError, GraphQLSchema, VariableValues

from contentapi.core.caching import BoundedCache
from contentapi.core.errors import Invalid, LimitExceeded
from contentapi.core.identity import ANONYMOUS
from contentapi.events.declarations import get_event_types
from contentapi.events.webhooks.models import MAX_SELECTION
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.documents import DocumentRejected, get_document, parse_within_limits
from contentapi.graphql.execution.executor import ProjectingExecutor
from contentapi.graphql.execution.operations import Operation
from contentapi.projection.selections import SelectedField

CACHE = 256 * 1024  # bytes of selections


class Selection:
    """The selected fields of each kind of objects, and the cost of one event. Without text, those of REST."""

    def __init__(self, text: str = "") -> None:
        """Raises `Invalid`."""
        self.text = text
        self.fields: Mapping[str, tuple[SelectedField, ...]] = {}
        self.cost = 1
        schema = import_module(settings.ROOT_URLCONF).SCHEMA  # with it, a worker binds the fields of all types
        if text:
            operation = compile_operation(text, schema)
            self.cost = operation.cost.evaluate(None)
            self.fields = read_fields(operation)

    def select(self) -> tuple[SelectedField, ...]:
        """Return the fields of an event: an entry for each type, as `EventTypes.select_data`."""
        return get_event_types().select_data(self.fields)

    def represent(self, event: bytes) -> bytes:
        """Return the JSON of an event. What the webhook selects itself stays as it is."""
        return get_event_types().represent(event, "", as_selected=self.fields)


SELECTIONS: BoundedCache[Selection] = BoundedCache(CACHE, weigh=lambda found: 1000 + 8 * len(found.text), name="")


def get_selection(text: str) -> Selection:
    """Return the compiled selection. Raises `Invalid` if it does not match the present schema and its limits."""
    found = SELECTIONS.get(text)
    if found is None:
        found = Selection(text)
        SELECTIONS.put(text, found)
    return found


def compile_operation(text: str, schema: GraphQLSchema) -> Operation:
    if len(text) > MAX_SELECTION:
        raise build_error(f"At most {MAX_SELECTION} characters are allowed (got {len(text)}).")
    try:
        operation = get_document(schema, build_document(text), None).require_operation(None)
        require_cost_within_limit(operation.cost.evaluate(None))
    except DocumentRejected as rejected:
        raise build_error(rejected.errors[0].message) from None
    except (GraphQLError, LimitExceeded) as error:
        raise build_error(error.message) from None
    return operation


def build_document(text: str) -> str:
    """Return the operation that spreads the first fragment on the type of each kind of objects."""
    first: dict[str, str] = {}
    for node in parse_within_limits(text).definitions:
        if not isinstance(node, FragmentDefinitionNode):
            raise build_error("Only fragments are allowed, such as: fragment Data on Post { title }")
        first.setdefault(node.type_condition.name.value, node.name.value)
    spreads = [
        f"... on {name} {{ {source.kind} {{ ...{first[source.projection.name]} }} }}"
        for name, source in get_event_types().sources.items()
        if source.projection.name in first
    ]
    if not spreads:
        raise build_error("There must be a fragment on the type of an object, such as: fragment Data on Post { title }")
    return f"query {{ events(first: 1) {{ edges {{ node {{ {' '.join(spreads)} }} }} }} }}\n{text}"


def build_error(message: str) -> Invalid:
    return Invalid({"selection": [message]})


def read_fields(operation: Operation) -> dict[str, tuple[SelectedField, ...]]:
    """Return the selected fields of each kind, with fragments merged. Raises `Invalid`."""
    (root,) = operation.constant_fields
    executor = ProjectingExecutor(
        operation.prepared,
        {"actor": ANONYMOUS},
        VariableValues({}, {}),
        document_size=operation.document_size,
        hide_suggestions=False,
    )
    try:
        (edges,) = executor.select_fields_of_types(root.returned.named, root.details, root.path, False)  # noqa: FBT003
    except (GraphQLError, LimitExceeded) as error:
        raise build_error(error.message) from None
    (node,) = edges.selection
    kinds = {name: source.kind for name, source in get_event_types().sources.items()}
    return {kinds[event.name]: selected.selection for event in node.selection for selected in event.selection}
