"""What an app declares, once, as `API` in its module `api`. The schema and the paths follow from it.

API = App(
    types=[Type(ORDER, select_order_node, EventSource(ACTIONS, policy.ORDER_EVENTS, views.ORDER))],
    projections=PROJECTIONS,
    bindables=BINDABLES,
    resources={"orders": OrderCollection, "orders/<str:order_id>": OrderResource},
)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ariadne import SchemaBindable
from django.conf import settings
from django.db.models import ProtectedError, Q, QuerySet
from django.urls import URLPattern, URLResolver
from django.utils.module_loading import import_string

from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor, Role
from contentapi.core.policy import ADMINS, EventRule
from contentapi.http.uploads import Upload
from contentapi.projection import Projection, RelayType
from contentapi.projection.nodes import SelectById
from contentapi.projection.related_rows import select_every_row
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
class EventSource:
    """The actions on the objects of a type, the rule for seeing their events, and the representation in REST."""

    actions: Sequence[str]
    visible: EventRule  # the condition on events that are not public, for actors with `events:read`
    data: Representation
    limit: EventRule | None = None  # the condition on all events


class Owners(NamedTuple):
    """The authors of users: the id of a user's object of the type, as a subquery, and made if there is none."""

    select_id: Callable[[int], Any]
    get_or_create_id: Callable[[Actor], int]


class Use(NamedTuple):
    """The rows of an own type that refer to objects of a type, its `target`."""

    target: str
    nouns: tuple[str, str]  # of one row and of several ones
    select: Callable[[Any], QuerySet[Any]]  # those of one object, by its key
    requiring: Callable[[Any], QuerySet[Any]]  # those that cannot do without it
    visible: Callable[[Actor], Q]  # the condition on what an actor may see


@dataclass(frozen=True)
class Type:
    """A type of objects."""

    projection: Projection
    node: SelectById | None = None  # the selector of `node(id:)`, if it is a Node
    events: EventSource | None = None
    # Those of the rows that a relation of an own type leads to
    related: Callable[[QuerySet[Any], Actor], QuerySet[Any]] = select_every_row
    key_input: str = ""  # the path of the widget for the id of an object in a form
    # Those that an actor may name there, by default the same
    named: Callable[[QuerySet[Any], Actor], QuerySet[Any]] | None = None
    owners: Owners | None = None  # by which own types name their author
    uses: Sequence[Use] = ()  # of an own type

    def __post_init__(self) -> None:
        if self.events and not self.node:
            raise TypeError(f"{self.projection.name} has events, but no selector of node(id:), which they show.")


@dataclass(frozen=True, kw_only=True)
class App:
    """What an app adds."""

    types: Sequence[Type] = ()
    projections: Sequence[Projection | RelayType] = ()  # those of `types` too
    representations: Sequence[Representation] = ()
    bindables: Sequence[SchemaBindable] = ()
    pages: Sequence[URLPattern | URLResolver] = ()  # neither resources nor in the admin
    jobs: str = ""  # a module, which only workers import; its function `list_jobs` returns the jobs
    sidebar: Sequence[Entry] = ()
    desk_roles: Sequence[Role] = ADMINS  # that may use the app in the admin
    links: Sequence[str] = ()  # the collections in the index of the API
    resources: Mapping[str, type[Resource]] = field(default_factory=dict)
    build_uploads: Callable[[], Sequence[Upload]] = tuple  # after the paths are known
    own_types: Sequence[Any] = ()  # each an `OwnModel` of contentapi.types, whose parts `load_apps` adds


@cache
def load_apps() -> Sequence[App]:
    """Return what the apps declare. The kernel is the last: `node` looks for its objects last."""
    modules = [*(f"{name}.api" for name in settings.CONTENT_APPS), "contentapi.events.webhooks.api"]
    found = [import_module(name).API for name in modules]
    # The module imports this one, and no project without own types needs it.
    return (
        import_string("contentapi.types.runtime.add_own_types")(found) if any(app.own_types for app in found) else found
    )


@cache
def list_uses(target: str) -> Sequence[Use]:
    """Return the own types that refer to objects of a type."""
    types = [each for app in load_apps() for each in app.types]
    return [use for each in types for use in each.uses if use.target == target]


def describe_uses(actor: Actor, target: str, pk: Any, most: int = 5, *, requiring: bool = False) -> list[str]:
    """Return what refers to an object, or cannot do without it: the names of the first rows of each type that the actor
    may see, and how many others: `“Soup”`, `2 other recipes`.
    """
    found = []
    for use in list_uses(target):
        rows = (use.requiring if requiring else use.select)(pk)
        named = [f"“{row}”" for row in rows.filter(use.visible(actor)).order_by("pk")[:most]]
        others = rows.count() - len(named)
        noun = f"{'other ' if named else ''}{use.nouns[others != 1]}"
        found += [*named, f"{others} {noun}"] if others else named
    return found


@contextmanager
def refuse_required(actor: Actor, target: str, pk: int) -> Iterator[None]:
    """Raise `Conflict` if the block deletes an object that rows of own types require."""
    try:
        yield
    except ProtectedError:
        names = ", ".join(describe_uses(actor, target, pk, requiring=True))
        raise Conflict(f"This is required by {names}. Change or delete what requires it first.") from None


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
