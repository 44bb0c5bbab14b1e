"""What an app declares, once, as `API` in its module `api`. The schema and the paths follow from it.

API = App(
    types=[Type(ORDER, select_order_node, EventSource(ACTIONS, FIELDS, represent_order))],
    projections=PROJECTIONS,
    bindables=BINDABLES,
    resources={"orders": OrderCollection, "orders/<str:order_id>": OrderResource},
)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from ariadne import SchemaBindable
from django.conf import settings
from django.urls import URLPattern

from contentapi.events.sources import EventSource as EventSource
from contentapi.http.uploads import Upload
from contentapi.monitoring.audit import AuditEvent
from contentapi.projection import Projection, RelayType
from contentapi.projection.nodes import SelectById
from contentapi.rest import Resource
from contentapi.rest.representations import Representation


@dataclass(frozen=True)
class Type:
    """A type of objects: the selector of `node(id:)`, if it is a Node, and what happens to its objects."""

    projection: Projection
    node: SelectById | None = None
    events: EventSource | None = None


@dataclass(frozen=True, kw_only=True)
class App:
    """What an app adds. `projections` has those of `types` too. `pages` are neither resources nor in the admin."""

    types: Sequence[Type] = ()
    projections: Sequence[Projection | RelayType] = ()
    representations: Sequence[Representation] = ()
    bindables: Sequence[SchemaBindable] = ()
    audit: Iterable[AuditEvent] = ()
    pages: Sequence[URLPattern] = ()
    resources: Mapping[str, type[Resource]] = field(default_factory=dict)
    build_uploads: Callable[[], Sequence[Upload]] = tuple  # after the paths are known


@cache
def load_apps() -> Sequence[App]:
    """Return what the apps declare. The kernel is the last: `node` looks for its objects last."""
    return [import_module(f"{name}.api").API for name in (*settings.CONTENT_APPS, "contentapi")]
