"""Actions of the admin: what a person does to an object apart from editing it, such as to hide a comment.

An action is a button in the form of an object, and an entry in the actions of the list. Few objects are changed at
once; many after a confirmation, whose page sends the ids in requests of `SLICE` objects (static/desk/bulk.js). So no
request takes long, the page shows the progress, and a person who stops or leaves keeps what is done. Without the
script, the button does one slice.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from contentapi.auth.sessions import get_actor
from contentapi.core.errors import ApiError, Invalid, Malformed, NotFound
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.desk.lists import BoundedPaginator
from contentapi.desk.rendering import describe_error

SLICE = 50  # objects of one request
MAX_SELECTED = BoundedPaginator.MAX_ROWS  # objects of one action: those that the list can show
NAMED = 20  # refused objects that a message names
LISTED = 100  # objects that the page before an action names
LONGEST = 60  # characters of a name in a message


@dataclass(frozen=True)
class Action:
    """An action on objects. `is_permitted` asks the policy; `is_offered` asks whether the object's state fits.

    `perform` gets the actor, an object and the values of the form. It returns the changed object, or raises an
    `ApiError`. `help` says what the action does; `list_label` and `list_help` are other words for many objects. `done`
    ends the message: "3 comments were hidden." An action with a form has a page that asks for values, and
    `read_initial` returns the first ones. The desk asks before an action changes `confirmed_from` objects or more. The
    button of a dangerous one, which destroys or hides something, is red.
    """

    name: str
    label: str
    done: str
    help: str
    perform: Callable[[Actor, Any, Mapping[str, Any]], Any]
    is_permitted: Callable[[Actor, Any], bool] = lambda *_: True  # of a button; the service decides
    is_offered: Callable[[Any], bool] = lambda _: True
    form: type[forms.Form] = forms.Form
    read_initial: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    list_label: str = ""
    list_help: str = ""
    confirmed_from: int = SLICE + 1
    is_dangerous: bool = False

    @property
    def has_form(self) -> bool:
        return self.form is not forms.Form

    @property
    def has_page(self) -> bool:
        """Whether a page asks for values, or for a confirmation, before the action changes one object."""
        return self.has_form or self.confirmed_from == 1


@dataclass
class Outcome:
    """The objects that an action has changed, and those that were refused, by the reason."""

    done: list[Any] = field(default_factory=list)
    refused: dict[str, list[Any]] = field(default_factory=partial(defaultdict, list))


def perform_each(
    service: Callable[..., object], parameter: str, attribute: str = "pk"
) -> Callable[[Actor, Any, Mapping[str, Any]], Any]:
    """Return a function that calls a service. Its `parameter` gets the attribute of an object as text."""

    def perform(actor: Actor, row: Any, values: Mapping[str, Any]) -> Any:
        service(actor=actor, **{parameter: str(getattr(row, attribute))}, **values)
        return row

    return perform


def find_action(actions: Iterable[Action], name: str) -> Action:
    found = next((action for action in actions if action.name == name), None)
    if found is None:
        raise NotFound("There is no such action.")
    return found


def list_offered_actions(actions: Iterable[Action], actor: Actor, row: Any) -> list[Action]:
    """Return the actions that the actor may do to an object in its present state."""
    return [action for action in actions if action.is_offered(row) and action.is_permitted(actor, row)]


def perform_action(
    request: HttpRequest, model_admin: Any, action: Action, rows: Iterable[Any], values: Mapping[str, Any]
) -> Outcome:
    """Do an action to each object and log it, in a transaction for each. An `ApiError` refuses only its object."""
    outcome = Outcome()
    for row in rows:
        try:
            with transaction.atomic():
                changed = action.perform(get_actor(request), row, values)
                model_admin.log_action(request, action, changed)
        except ApiError as error:
            outcome.refused[describe_error(error)].append(row)
        else:
            outcome.done.append(changed)
    return outcome


def report(request: HttpRequest, model_admin: Any, action: Action, outcome: Outcome) -> None:
    """Show what an action has done, and which objects it has refused, with the reasons."""
    if outcome.done:
        messages.success(request, model_admin.describe_outcome(action, outcome.done))
    for reason, rows in outcome.refused.items():
        others = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        names = "; ".join(quote(row) for row in rows[:NAMED]) + others
        verb = "was" if len(rows) == 1 else "were"
        messages.error(request, f"{names} {verb} not {action.done.lower()}. {reason}")


def quote(row: Any) -> str:
    """Return the name of an object in a message."""
    line = " ".join(str(row).split())
    return f"“{line if len(line) <= LONGEST else f'{line[: LONGEST - 1]}…'}”"


def count_rows(model_admin: Any, number: int) -> str:
    return f"{number:,} {model_admin.opts.verbose_name if number == 1 else model_admin.opts.verbose_name_plural}"


def show_action(request: HttpRequest, model_admin: Any, object_id: str, name: str) -> HttpResponse:
    """Do an action to one object. The page of an action that has one is shown first."""
    action = find_action(model_admin.desk_actions, name)
    row, is_sent = model_admin.get_object(request, object_id), request.method == "POST"
    if not action.is_permitted(get_actor(request), row):
        raise PermissionDenied
    if not is_sent and not action.has_page:
        return HttpResponseNotAllowed(["POST"])
    back = find_next_page(request, model_admin.get_address("change", row.pk))
    if not is_sent and not action.is_offered(row):
        messages.error(request, f"“{action.label}” is not possible for “{row}” now.")
        return HttpResponseRedirect(back)
    form = action.form(request.POST if is_sent else None, initial=dict(action.read_initial(row)))
    if form.is_valid():
        report(request, model_admin, action, perform_action(request, model_admin, action, [row], form.cleaned_data))
        if getattr(row, "secret_shown_once", ""):
            return model_admin.show_secret(request, row)  # type: ignore[no-any-return]
        return HttpResponseRedirect(back)
    context = {
        "title": f"{action.label}: {row}",
        "action": action,
        "form": form,
        "description": model_admin.describe_row(row),
        "back": back,
    }
    return model_admin.render(request, "desk/action.html", context)  # type: ignore[no-any-return]


def find_next_page(request: HttpRequest, default: str) -> str:
    """Return the page of the admin that the form or the button names; else the default."""
    page = request.POST.get("next") or request.GET.get("next", "")
    return page if page.startswith(reverse("admin:index")) else default  # a path of this server, never another site


def begin_action(
    model_admin: Any, request: HttpRequest, selected: models.QuerySet[Any], *, action: Action
) -> HttpResponse | None:
    """Do an action to the objects that were selected in a list, or ask first. Django's list calls this function."""
    ids = list(selected.values_list("id", flat=True)[: MAX_SELECTED + 1])
    if len(ids) >= action.confirmed_from:
        address = model_admin.get_address("bulk", action.name)
        return ask(request, model_admin, action, ids, action.form(), address, request.get_full_path())
    report(request, model_admin, action, perform_on_ids(request, model_admin, action, ids, {}))
    return None


def ask(
    request: HttpRequest,
    model_admin: Any,
    action: Action,
    ids: Sequence[int],
    form: forms.Form,
    address: str,
    back: str,
) -> HttpResponse:
    """Show what the action does to which objects: at most the first `MAX_SELECTED`."""
    selected = ids[:MAX_SELECTED]
    rows = find_rows(request, model_admin, action, selected[:LISTED])
    context = {
        "title": f"{action.label}: {count_rows(model_admin, len(selected))}",
        "action": action,
        "address": address,
        "ids": ",".join(map(str, selected)),
        "limit": MAX_SELECTED if len(ids) > MAX_SELECTED else None,
        "slice": SLICE,
        "rows": [(row, model_admin.describe_row(row)) for row in rows],
        "others": len(selected) - len(rows),
        "form": form,
        "back": back,
    }
    return model_admin.render(request, "desk/action.html", context)  # type: ignore[no-any-return]


@require_POST
def run_bulk(request: HttpRequest, model_admin: Any, name: str) -> HttpResponse:
    """Do a confirmed action to a slice of the selected objects of the list."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    return perform_slice(request, model_admin, find_action(model_admin.list_actions(request), name))


def perform_slice(request: HttpRequest, model_admin: Any, action: Action) -> HttpResponse:
    """Do an action to the first `SLICE` of some objects. Return the outcome, or a page for the others."""
    ids = read_ids(request, model_admin)
    form = action.form(request.POST)
    is_script = request.accepts("application/json") and not request.accepts("text/html")
    if is_script and not form.is_valid():
        problems = [str(each) for problems in form.errors.values() for each in problems]
        return JsonResponse({"problem": " ".join(problems)}, status=Invalid.status)
    if form.is_valid():
        outcome = perform_on_ids(request, model_admin, action, ids[:SLICE], form.cleaned_data)
        if is_script:
            return JsonResponse(build_outcome_document(outcome))
        report(request, model_admin, action, outcome)
        ids = ids[SLICE:]
    back = find_next_page(request, model_admin.get_address("changelist"))
    if not ids:
        return HttpResponseRedirect(back)
    return ask(request, model_admin, action, ids, form, request.path, back)


def read_ids(request: HttpRequest, model_admin: Any) -> list[int]:
    """Return the ids of a form, each once. Raises `Malformed`."""
    ids = list(dict.fromkeys(parse_id(part) for part in request.POST.get("ids", "").split(",")))
    if 0 in ids or len(ids) > MAX_SELECTED:
        raise Malformed(f"Select from 1 to {MAX_SELECTED:,} {model_admin.opts.verbose_name_plural}.")
    return ids


def perform_on_ids(
    request: HttpRequest, model_admin: Any, action: Action, ids: Sequence[int], values: Mapping[str, Any]
) -> Outcome:
    """Do an action to the objects with these ids. Those that the person may not change any more are refused."""
    rows = find_rows(request, model_admin, action, ids)
    outcome = perform_action(request, model_admin, action, rows, values)
    for missing in set(ids) - {row.id for row in rows}:
        name = f"{model_admin.opts.verbose_name.capitalize()} {missing}"
        outcome.refused["It is gone, or you may not change it any more."].append(name)
    return outcome


def find_rows(request: HttpRequest, model_admin: Any, action: Action, ids: Sequence[int]) -> list[Any]:
    """Return those of the objects that the person may change, in the order of the ids."""
    found = {row.id: row for row in model_admin.select_for_action(request, action).filter(id__in=ids)}
    return [found[pk] for pk in ids if pk in found]


def build_outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return what the script reads: the number of objects that were changed, and the others by the reason."""
    return {
        "done": len(outcome.done),
        "refused": [
            {"reason": reason, "rows": [{"id": getattr(row, "id", None), "name": str(row)} for row in rows]}
            for reason, rows in outcome.refused.items()
        ],
    }
