"""What an app declares, once, as `API` in its module `api`. The schema and the paths follow from it.

API = App(
    types=[Type(ORDER, select_order_node, EventSource(ACTIONS, policy.ORDER_EVENTS, views.ORDER))],
    projections=PROJECTIONS,
    bindables=BINDABLES,
    resources={"orders": OrderCollection, "orders/<str:order_id>": OrderResource},
)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import NamedTuple

from ariadne import SchemaBindable
from django.conf import settings
from django.urls import URLPattern, URLResolver

from contentapi.core.identity import Role
from contentapi.core.policy import ADMINS
from contentapi.events.sources import EventSource as EventSource
from contentapi.events.sources import EventType, EventTypes
from contentapi.http.uploads import Upload
from contentapi.projection import Projection, RelayType
from contentapi.projection.nodes import SelectById
from contentapi.rest import Resource
from contentapi.rest.representations import Representation
from contentapi.worker.jobs import Job


class Group(StrEnum):
    """The groups of the sidebar, in their order."""

    CONTENT = "Content"
    ACCOUNT = "Account"
    ADMINISTRATION = "Administration"


class Entry(NamedTuple):
    """An entry of the sidebar: the list of a model such as `blog.Post`, for users whom its admin gives access."""

    title: str
    icon: str
    model: str
    group: Group = Group.CONTENT


@dataclass(frozen=True)
class Type:
    """A type of objects: the selector of `node(id:)`, if it is a Node, and what happens to its objects."""

    projection: Projection
    node: SelectById | None = None
    events: EventSource | None = None

    def __post_init__(self) -> None:
        if self.events and not self.node:
            raise TypeError(f"{self.projection.name} has events, but no selector of node(id:), which they show.")


@dataclass(frozen=True, kw_only=True)
class App:
    """What an app adds. `projections` has those of `types` too. `pages` are neither resources nor in the admin.

    `links` are the collections in the index of the API. `jobs` is the name of a module, which only workers import; its
    function `list_jobs` returns the jobs. `desk_roles` are the roles that may use the app in the admin.
    """

    types: Sequence[Type] = ()
    projections: Sequence[Projection | RelayType] = ()
    representations: Sequence[Representation] = ()
    bindables: Sequence[SchemaBindable] = ()
    pages: Sequence[URLPattern | URLResolver] = ()
    jobs: str = ""
    sidebar: Sequence[Entry] = ()
    desk_roles: Sequence[Role] = ADMINS
    links: Sequence[str] = ()
    resources: Mapping[str, type[Resource]] = field(default_factory=dict)
    build_uploads: Callable[[], Sequence[Upload]] = tuple  # after the paths are known


@cache
def load_apps() -> Sequence[App]:
    """Return what the apps declare. The kernel is the last: `node` looks for its objects last."""
    modules = [*(f"{name}.api" for name in settings.CONTENT_APPS), "contentapi.events.webhooks.api"]
    return [import_module(name).API for name in modules]


@cache
def get_event_types() -> EventTypes:
    """Return the types of events of all apps."""
    types = [each for app in load_apps() for each in app.types]
    return EventTypes(EventType(each.projection, each.node, each.events) for each in types if each.node and each.events)


def collect_resources() -> dict[str, type[Resource]]:
    """Return the class of each path. Raises `ValueError` if two apps declare the same path."""
    resources: dict[str, type[Resource]] = {}
    for app in load_apps():
        if twice := resources.keys() & app.resources.keys():
            raise ValueError(f"Two apps declare the same path: {', '.join(sorted(twice))}.")
        resources |= app.resources
    return resources


def load_jobs() -> list[Job]:
    """Return the jobs of all apps. Raises `ValueError` if two have the same name."""
    jobs = [job for app in load_apps() if app.jobs for job in import_module(app.jobs).list_jobs()]
    names = [job.name for job in jobs]
    if len(names) != len(set(names)):
        raise ValueError(f"Two jobs have the same name: {', '.join(sorted(names))}.")
    return jobs
