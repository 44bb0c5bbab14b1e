"""QuerySets by shape: what selectors return, made only when it is needed, so that a projection need not make it.

Building a QuerySet and compiling it takes longer than running a small statement that is prepared. A selector under
`by_shape` returns a QuerySet of which nothing is built yet: it is known by the function, by the standing of who asks
and by which arguments are given. For each such shape a projection compiles one statement, with parameters in place of
the values, and from then on binds values. Whoever uses the QuerySet in any other way has Django's, as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, cached_property, wraps
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from contentapi.core.identity import Actor
from contentapi.projection.selections import Parameter, actor_cache_key, is_fixed, parametrised_actor

M = TypeVar("M", bound=Model)
Select = Callable[..., QuerySet[Any]]


def parametrised(model: type[M]) -> Callable[[Select], Callable[..., QuerySet[M]]]:
    """Let a function of an actor and keyword arguments return QuerySets that are known by their shape.

    When a statement is compiled, the function is given parameters in place of the actor's id and the arguments; None
    stays None, and so do the members of an enum, for each of which there is a statement. So it can ask what the actor's
    role and scopes are, which arguments are None and which member of an enum one is, and no more.
    """

    def decorate(select: Select) -> Callable[..., QuerySet[M]]:
        @wraps(select)
        def shaped(actor: Actor, **arguments: Any) -> QuerySet[M]:
            return ParametrisedRows(model, select, actor, arguments)

        return shaped

    return decorate


@cache
def by_primary_key(model: type[Model]) -> Callable[..., QuerySet[Model]]:
    return parametrised(model)(lambda _, pk: model._base_manager.filter(pk=pk))


def select_instance(instance: Model, actor: Actor) -> QuerySet[Model]:
    """Return the row of an instance, to be read back by who has just written it. Raises `TypeError` if it has none."""
    if instance.pk is None:
        raise TypeError(f"This {type(instance).__name__} is not in the database.")
    return by_primary_key(type(instance))(actor, pk=instance.pk)


class ParametrisedRows(QuerySet[Any]):
    """A QuerySet that is built when somebody other than a projection uses it."""

    def __init__(
        self, model: type[Model], select: Select, actor: Actor, arguments: dict[str, Any], window: slice = slice(None)
    ) -> None:
        super().__init__(model, query=object())  # type: ignore[arg-type]  # in place of an empty query
        del self._query
        self.select = select
        self.actor = actor
        self.arguments = arguments
        self.window = window

    @cached_property
    def _query(self) -> Any:
        return self.built().query

    def built(self) -> QuerySet[Any]:
        rows = self.select(self.actor, **self.arguments)
        return rows if self.window == slice(None) else rows[self.window]

    def _chain(self) -> QuerySet[Any]:
        return self.built()._chain()  # type: ignore[attr-defined,no-any-return]

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice) and self.window == slice(None) and is_simple_slice(place):
            return ParametrisedRows(self.model, self.select, self.actor, self.arguments, place)
        return super().__getitem__(place)

    def __deepcopy__(self, _: dict[int, Any]) -> QuerySet[Any]:  # type: ignore[override]  # Django's own again
        return self.built()

    @property
    def cache_key(self) -> Hashable:
        given = tuple((name, value if is_fixed(value) else ...) for name, value in self.arguments.items())
        return self.select, actor_cache_key(self.actor), given, not self.window.start, self.window.stop is None

    def template(self) -> QuerySet[Any]:
        """Return the rows with parameters for all values but the slice's. They are read from `Inputs.rows`."""
        actor = parametrised_actor(self.actor, lambda inputs: inputs.rows.actor)
        arguments = {
            name: value if is_fixed(value) else argument_parameter(name) for name, value in self.arguments.items()
        }
        return self.select(actor, **arguments)


def is_simple_slice(window: slice) -> bool:
    low, high = window.start or 0, window.stop
    return window.step is None and low >= 0 and (high is None or high >= low)


def argument_parameter(name: str) -> Parameter:
    return Parameter(lambda inputs: inputs.rows.arguments[name])
