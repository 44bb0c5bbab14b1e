"""Actions of a list on many selected objects, in slices.

Few objects are changed at once; many after a confirmation. The page that asks for it has the ids, and sends them in
requests of `SLICE` objects (static/desk/bulk.js). So no request takes long, the page shows the progress, and a person
who stops or leaves keeps what is done. Without the script, the button does one slice.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from contentapi.core.errors import Invalid, Malformed
from contentapi.core.pagination import parse_id
from contentapi.desk.actions import SLICE, Action, Outcome, find_action
from contentapi.desk.lists import BoundedPaginator

MAX_SELECTED = BoundedPaginator.MAX_ROWS  # objects of one action: those that the list can show
NAMED = 100  # objects that the page names


def begin_action(
    model_admin: Any, request: HttpRequest, selected: models.QuerySet[Any], *, action: Action
) -> HttpResponse | None:
    """Do an action to the objects that were selected in a list, or ask first. Django's list calls this function."""
    ids = list(selected.values_list("pk", flat=True)[: MAX_SELECTED + 1])
    if len(ids) >= action.confirmed_from:
        return confirm(request, model_admin, action, ids, (action.form or forms.Form)(), request.get_full_path())
    model_admin.report(request, action, perform_on_ids(request, model_admin, action, ids, {}))
    return None


def confirm(
    request: HttpRequest, model_admin: Any, action: Action, ids: Sequence[int], form: forms.Form, back: str
) -> HttpResponse:
    """Show what the action does to which objects: at most the first `MAX_SELECTED`."""
    selected = ids[:MAX_SELECTED]
    rows = [(row, model_admin.describe_row(row)) for row in find_rows(request, model_admin, selected[:NAMED])]
    context = {
        "title": f"{action.label}: {count_rows(model_admin, len(selected))}",
        "action": action,
        "selected": ",".join(map(str, selected)),
        "limit": MAX_SELECTED if len(ids) > MAX_SELECTED else None,
        "slice": SLICE,
        "rows": rows,
        "others": len(selected) - len(rows),
        "form": form,
        "back": back,
    }
    response: HttpResponse = model_admin.render(request, "desk/confirm_action.html", context)
    return response


@require_POST
def perform_slice(request: HttpRequest, model_admin: Any, name: str) -> HttpResponse:
    """Do a confirmed action to the first `SLICE` of some objects. Return the outcome, or a page for the others."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    action = find_action(model_admin.list_actions(request), name)
    ids = read_ids(model_admin, request.POST.get("ids", ""))
    back = read_list_address(model_admin, request.POST.get("list", ""))
    is_script = request.accepts("application/json") and not request.accepts("text/html")
    form = (action.form or forms.Form)(request.POST)
    if not form.is_valid():
        if is_script:
            problems = [str(each) for problems in form.errors.values() for each in problems]
            return JsonResponse({"problem": " ".join(problems)}, status=Invalid.status)
        return confirm(request, model_admin, action, ids, form, back)
    outcome = perform_on_ids(request, model_admin, action, ids[:SLICE], form.cleaned_data)
    if is_script:
        return JsonResponse(build_outcome_document(outcome))
    model_admin.report(request, action, outcome)
    left = ids[SLICE:]
    return confirm(request, model_admin, action, left, form, back) if left else HttpResponseRedirect(back)


def perform_on_ids(
    request: HttpRequest, model_admin: Any, action: Action, ids: Sequence[int], values: Mapping[str, Any]
) -> Outcome:
    """Do an action to the objects with these ids. Those that the person may not change any more are refused."""
    rows = find_rows(request, model_admin, ids)
    outcome: Outcome = model_admin.perform(request, action, rows, values)
    for missing in set(ids) - {row.pk for row in rows}:
        name = f"{model_admin.opts.verbose_name.capitalize()} {missing}"
        outcome.refuse(name, "It is deleted, or you may not change it any more.")
    return outcome


def find_rows(request: HttpRequest, model_admin: Any, ids: Sequence[int]) -> list[Any]:
    """Return those of the objects that the person may change, in the order of the ids."""
    found = {row.pk: row for row in model_admin.select_for_action(request).filter(pk__in=ids)}
    return [found[pk] for pk in ids if pk in found]


def build_outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return what the script reads: the number of objects that were changed, and the others by the reason."""
    return {
        "done": len(outcome.done),
        "refused": [
            {"reason": reason, "rows": [{"id": getattr(row, "pk", None), "name": str(row)} for row in rows]}
            for reason, rows in outcome.refused.items()
        ],
    }


def read_ids(model_admin: Any, text: str) -> list[int]:
    """Return the ids of a form, each once. Raises `Malformed`."""
    ids = list(dict.fromkeys(parse_id(part) for part in text.split(",")))
    if 0 in ids or len(ids) > MAX_SELECTED:
        raise Malformed(f"Select from 1 to {MAX_SELECTED:,} {model_admin.opts.verbose_name_plural}.")
    return ids


def read_list_address(model_admin: Any, text: str) -> str:
    """Return the address of the list that the action began in: a path of this server, never another site."""
    address = reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist")
    return text if text.startswith(address) else address


def count_rows(model_admin: Any, number: int) -> str:
    return f"{number:,} {model_admin.opts.verbose_name if number == 1 else model_admin.opts.verbose_name_plural}"
