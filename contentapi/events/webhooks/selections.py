"""Compile the selection of a webhook: GraphQL fragments that choose the fields of `data`, instead of those of REST.

    fragment Data on Post { title author { name } }

The first fragment on the type of an object is the selection; it may spread the others. They are compiled as a part of
a subscription to events, so that its limits and its cost are those of every operation:

    subscription { events { ... on PostEvent { post { ...Data } } } } fragment Data on Post …
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from django.conf import settings
from graphql import FragmentDefinitionNode, GraphQLError

from contentapi.core.errors import Invalid, LimitExceeded
from contentapi.core.identity import ANONYMOUS
from contentapi.events.declarations import get_event_types
from contentapi.events.webhooks.models import MAX_SELECTION
from contentapi.graphql.costs import require_cost_within_limit
from contentapi.graphql.documents import DocumentRejected, parse_within_limits
from contentapi.graphql.subscriptions import Subscription, get_subscription
from contentapi.projection.selections import SelectedField


class Selection(NamedTuple):
    """The selected fields of each kind of objects, and the cost of one event. Without text, those of REST."""

    text: str = ""
    fields: Mapping[str, tuple[SelectedField, ...]] = {}
    cost: int = 1


@lru_cache(maxsize=128)
def get_selection(text: str) -> Selection:
    """Return the compiled selection. Raises `Invalid` if it does not match the present schema and its limits."""
    schema = import_module(settings.ROOT_URLCONF).SCHEMA  # with it, a worker binds the fields of all types
    if not text:
        return Selection()
    try:
        operation = get_subscription(schema, build_document(text), None)
        cost = operation.cost.evaluate(None)
        require_cost_within_limit(cost)
        return Selection(text, read_fields(Subscription(operation, {}, ANONYMOUS)), cost)
    except DocumentRejected as rejected:
        raise build_error(rejected.errors[0].message) from None
    except (GraphQLError, LimitExceeded) as error:
        raise build_error(error.message) from None


def build_document(text: str) -> str:
    """Return the operation that spreads the first fragment on the type of each kind of objects."""
    if len(text) > MAX_SELECTION:
        raise build_error(f"At most {MAX_SELECTION} characters are allowed (got {len(text)}).")
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
    return f"subscription {{ events {{ {' '.join(spreads)} }} }}\n{text}"


def build_error(message: str) -> Invalid:
    return Invalid({"selection": [message]})


def read_fields(subscription: Subscription) -> dict[str, tuple[SelectedField, ...]]:
    """Return the selected fields of each kind, with fragments merged."""
    root, executor = subscription.root, subscription.build_executor()
    events = executor.select_fields_of_types(root.returned.named, root.details, root.path, is_list=False)
    kinds = {name: source.kind for name, source in get_event_types().sources.items()}
    return {kinds[event.name]: selected.selection for event in events for selected in event.selection}
