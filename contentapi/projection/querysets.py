"""Rows that a selector returns: a QuerySet that is built only when it is needed, with a cache key.

To build and to compile a QuerySet takes longer than to run a small prepared statement. A selector under `parametrised`
therefore returns `Rows`: the function and its arguments, not yet called. Their cache key is the function, the part of
the actor that can change the SQL, and which arguments have a value. For each cache key, a projection calls the function
once with parameters instead of values, and compiles one statement. Later requests bind their values to it.

Services, which need Django's QuerySet with all its methods, call `Rows.queryset`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, wraps
from inspect import signature
from typing import Any, Generic, TypeVar

import msgspec
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model, QuerySet

from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.pagination import Position
from contentapi.core.replicas import ROUTE
from contentapi.db.expressions import Term
from contentapi.db.placement import get_shard_key
from contentapi.projection.ordering import Ordering
from contentapi.projection.selections import Parameter, build_parametrised_actor, is_structural

PLAIN = (int, str)  # types whose values are parameters, as those of most arguments are
M = TypeVar("M", bound=Model)
Select = Callable[..., QuerySet[Any]]


class Rows(msgspec.Struct, Generic[M], eq=False):
    """The rows that `select(actor, **arguments)` returns, or a slice of them.

    `order` is their order if the JSON of a row does not show its position, as the relevance of a search.
    """

    model: type[M]
    select: Select
    actor: Actor
    arguments: dict[str, Any]
    limit: int | None = None
    offset: int = 0
    order: Ordering | None = None
    is_slice: bool = False
    __iter__ = None  # otherwise `__getitem__` would make rows iterable

    def queryset(self) -> QuerySet[M]:
        rows = self.select(self.actor, **self.arguments)
        return rows[self.offset : None if self.limit is None else self.offset + self.limit] if self.is_slice else rows

    def __getitem__(self, window: slice) -> Rows[M]:
        """Return the rows between two offsets, which are not part of the cache key. Raises `ValueError`."""
        low, high = window.start or 0, window.stop
        if self.is_slice or window.step is not None or low < 0 or (high is not None and high < low):
            raise ValueError("Slice rows once, from an offset to the same or a higher one, without a step.")
        limit = None if high is None else high - low
        return Rows(self.model, self.select, self.actor, self.arguments, limit, low, self.order, is_slice=True)

    def count(self) -> int:
        return self.queryset().count()

    def exists(self) -> bool:
        return self.queryset().exists()

    @property
    def db(self) -> str:
        """The alias of the database to read from."""
        return ROUTE.alias or DEFAULT_DB_ALIAS

    @property
    def cache_key(self) -> Hashable:
        """Everything that can change the SQL of `with_parameters` and its LIMIT and OFFSET. None: do not cache it."""
        key = [self.select, self.actor.rights, self.limit is None, not self.offset, *self.arguments]
        for each in self.arguments.values():
            is_parameter = type(each) in PLAIN or not is_structural(each)
            key.append(... if is_parameter else each)
        return tuple(key)

    def with_parameters(self, **expressions: Term) -> QuerySet[M]:
        """Return the rows, not sliced, with parameters for all values. They read from `ExecutionInputs.rows`.

        `expressions` take the place of arguments.
        """
        actor = build_parametrised_actor(self.actor, lambda inputs: inputs.rows.actor)
        arguments = {
            name: value if is_structural(value) else build_argument_parameter(name)
            for name, value in self.arguments.items()
        }
        return self.select(actor, **{**arguments, **expressions})


def build_argument_parameter(name: str) -> Parameter:
    return Parameter(lambda inputs: inputs.rows.arguments[name])


class QuerySetRows(Rows[M]):
    """The rows of a QuerySet. Its values are part of its SQL, so its statement is compiled for each execution."""

    cache_key = None

    @classmethod
    def of(cls, rows: QuerySet[M]) -> QuerySetRows[M]:
        return cls(rows.model, lambda _: rows, ANONYMOUS, {})


def parametrised(
    model: type[M], *, order: Ordering | None = None, **parsers: Callable[[Any], Any]
) -> Callable[[Select], Callable[..., Rows[M]]]:
    """Decorate a function of an actor and keyword arguments that returns a QuerySet, to return `Rows`.

    When a statement is compiled, the actor's id and the arguments are parameters. Only None and the members of an enum
    are passed as values, and each of them has its own statement. So the function may branch on the actor's role and
    scopes, on whether an argument is None, and on which member of an enum it is, but on no other value.
    `parsers` parse arguments, also those by position. A `Position` in `after` is its value, and its id as `after_pk`.
    """

    def decorate(select: Select) -> Callable[..., Rows[M]]:
        names = [*signature(select).parameters][1:]

        @wraps(select)
        def selector(actor: Actor, *values: Any, **arguments: Any) -> Rows[M]:
            arguments.update(zip(names, values))  # noqa: B905 - at each request: `strict` makes it slower
            for name, parse in parsers.items():
                value = arguments.get(name)
                if value is not None:
                    arguments[name] = parse(value)
            if "after" in arguments and isinstance(after := arguments["after"], Position):
                arguments |= {"after": after.value, "after_pk": after.id}
            return Rows(model, select, actor, arguments, order=order)

        return selector

    return decorate


@cache
def get_key_selector(model: type[Model]) -> Callable[..., Rows[Model]]:
    return parametrised(model)(lambda _, **keys: model._base_manager.filter(**keys))


def select_instance(instance: Model, actor: Actor) -> Rows[Model]:
    """Return the row of an instance that the actor has just written. Raises `TypeError` if it is not saved.

    The row of a comment, for example, is found by its id and by that of its post, which is in one shard.
    """
    if instance.pk is None:
        raise TypeError(f"This {type(instance).__name__} is not in the database.")
    options = instance._meta
    shard = get_shard_key(options)
    keys = {options.pk.attname: instance.pk, shard: getattr(instance, shard)}
    return get_key_selector(type(instance))(actor, **keys)
