"""Actions of the admin: what a person does to an object apart from editing it, such as to hide a comment.

An action is a button in the form of an object, and an entry in the actions of the list. It calls a service. The
messages say what was done, and for each object that was refused, the reason of the service.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest

from contentapi.core.errors import ApiError, NotFound
from contentapi.core.identity import Actor
from contentapi.desk.rendering import describe_error

SLICE = 50  # objects of one request
NAMED = 20  # refused objects that a message names
LONGEST = 60  # characters of a name in a message


@dataclass
class Outcome:
    """The objects that an action has changed, and those that were refused, by the reason."""

    done: list[Any] = field(default_factory=list)
    refused: dict[str, list[Any]] = field(default_factory=dict)

    def refuse(self, row: Any, reason: str) -> None:
        self.refused.setdefault(reason, []).append(row)


Log = Callable[[Any], None]
# Called with the actor, the objects, the values of the form, and the function that writes the log about an object.
Perform = Callable[[Actor, Sequence[Any], Mapping[str, Any], Log], Outcome]


@dataclass(frozen=True)
class Action:
    """An action on objects. `is_permitted` asks the policy; `is_offered` asks whether the object's state fits.

    `help` says what the action does; `list_label` and `list_help` are other words for many objects. `done` ends the
    message: "3 comments were hidden." An action with a form has a page that asks for values, and `read_initial` returns
    the first ones. The desk asks before an action changes `confirmed_from` objects or more. The button of a dangerous
    one, which destroys or hides something, is red.
    """

    name: str
    label: str
    done: str
    help: str
    perform: Perform
    is_permitted: Callable[[Actor, Any], bool] = lambda *_: True  # of a button; the service decides
    is_offered: Callable[[Any], bool] = lambda _: True
    form: type[forms.Form] | None = None
    read_initial: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    list_label: str = ""
    list_help: str = ""
    confirmed_from: int = SLICE + 1
    is_dangerous: bool = False

    @property
    def has_page(self) -> bool:
        """Whether a page asks for values, or for a confirmation, before the action changes one object."""
        return self.form is not None or self.confirmed_from == 1


A = TypeVar("A", bound=Action)


def perform_each(service: Callable[..., object], parameter: str, attribute: str = "pk") -> Perform:
    """Return a function that calls a service for each object.

    `parameter` of the service gets the attribute of the object as text. The other values come from the form.
    """

    def perform_one(actor: Actor, row: Any, values: Mapping[str, Any]) -> Any:
        service(actor=actor, **{parameter: str(getattr(row, attribute))}, **values)
        return row

    return perform_rows(perform_one)


def perform_rows(perform_one: Callable[[Actor, Any, Mapping[str, Any]], Any]) -> Perform:
    """Return a function that calls another one for each object, with the values of the form."""
    return lambda actor, rows, values, log: collect_outcome(rows, lambda row: perform_one(actor, row, values), log)


def collect_outcome(rows: Iterable[Any], perform_one: Callable[[Any], Any], log: Log) -> Outcome:
    """Call a function for each object, and log the changed object that it returns, in a transaction of its own.

    An object for which it raises an `ApiError` is refused, and the others are not affected.
    """
    outcome = Outcome()
    for row in rows:
        try:
            with transaction.atomic():
                changed = perform_one(row)
                log(changed)
        except ApiError as error:
            outcome.refuse(row, describe_error(error))
        else:
            outcome.done.append(changed)
    return outcome


def report_refused(request: HttpRequest, done: str, outcome: Outcome) -> None:
    """Show which objects were refused, with the reasons. `done` is the word for the others, such as "hidden"."""
    for reason, rows in outcome.refused.items():
        verb = "was" if len(rows) == 1 else "were"
        messages.error(request, f"{list_names([str(row) for row in rows])} {verb} not {done}. {reason}")


def list_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    others = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(f"“{shorten(name)}”" for name in names[:NAMED]) + others


def shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def find_action(actions: Iterable[Action], name: str) -> Action:
    found = next((action for action in actions if action.name == name), None)
    if found is None:
        raise NotFound("There is no such action.")
    return found


def list_offered_actions(actions: Iterable[A], actor: Actor, row: Any) -> list[A]:
    """Return the actions that the actor may do to an object in its present state."""
    return [action for action in actions if action.is_offered(row) and action.is_permitted(actor, row)]
