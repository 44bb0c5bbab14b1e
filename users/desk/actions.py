"""Acts of the admin: what a person does to an object apart from editing it, such as to hide a comment or ship an order.

An act is a button in the form and an action of the list for many objects. It calls a service. The messages say what was
done, and for each object that was refused, the reason of the service.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from contentapi.core.errors import ApiError, Conflict
from contentapi.core.identity import Actor
from users.desk.bases import PolicyAdmin, get_actor

MOST = 500  # objects of one action
NAMED = 20  # refused objects that a message names
LONGEST = 60  # characters of a name in a message


@dataclass
class Outcome:
    """The objects that an act has changed, and those that were refused, by the reason."""

    done: list[Any] = field(default_factory=list)
    refused: dict[str, list[Any]] = field(default_factory=dict)

    def refuse(self, row: Any, reason: str) -> None:
        self.refused.setdefault(reason, []).append(row)


Perform = Callable[[Actor, Sequence[Any], Mapping[str, Any]], Outcome]


@dataclass(frozen=True)
class Act:
    """An act on objects. `is_permitted` asks the policy; `is_offered` also asks whether the object's state fits.

    `help` says what the act does. `done` ends the message: "3 comments were hidden." An act with a form has a page that
    asks for values, and is not in the list of actions. `read_initial` returns the first values of the form.
    """

    name: str
    label: str
    done: str
    help: str
    perform: Perform
    is_permitted: Callable[[Actor, Any], bool]
    is_offered: Callable[[Any], bool]
    form: type[forms.Form] | None = None
    read_initial: Callable[[Any], Mapping[str, Any]] = lambda _: {}


def perform_each(service: Callable[..., object], parameter: str, attribute: str = "pk") -> Perform:
    """Return a function that calls a service for each object.

    `parameter` of the service gets the attribute of the object as text. The other values come from the form of the act.
    """

    def perform(actor: Actor, rows: Sequence[Any], values: Mapping[str, Any]) -> Outcome:
        def perform_one(row: Any) -> Any:
            service(actor=actor, **{parameter: str(getattr(row, attribute))}, **values)
            return row

        return collect_outcome(rows, perform_one)

    return perform


def collect_outcome(rows: Iterable[Any], perform_one: Callable[[Any], Any]) -> Outcome:
    """Call a function for each object, each in a transaction of its own. It returns the changed object.

    An object for which it raises an `ApiError` is refused, and the others are not affected.
    """
    outcome = Outcome()
    for row in rows:
        try:
            with transaction.atomic():
                changed = perform_one(row)
        except ApiError as error:
            outcome.refuse(row, error.message)
        else:
            outcome.done.append(changed)
    return outcome


def read_selected(admin: PolicyAdmin, selected: models.QuerySet[Any], most: int) -> list[Any]:
    """Return the objects that are selected in a list. Raises `Conflict` if there are too many for one action."""
    rows = list(selected[: most + 1])
    if len(rows) > most:
        raise Conflict(f"Select at most {most} {admin.opts.verbose_name_plural} at a time.")
    return rows


def report_refused(request: HttpRequest, done: str, outcome: Outcome) -> None:
    """Show which objects were refused, with the reasons. `done` is the word for the others, such as "hidden"."""
    for reason, rows in outcome.refused.items():
        verb = "was" if len(rows) == 1 else "were"
        messages.error(request, f"{name_some([str(row) for row in rows])} {verb} not {done}. {reason}")


class ActsAdmin(PolicyAdmin):
    """An admin with acts. The buttons are forms of their own above the form of the object."""

    acts: ClassVar[Sequence[Act]] = ()
    change_form_outer_before_template = "users/acts.html"

    class Media:
        css: ClassVar = {"all": ["users/acts.css"]}

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        view = self.admin_site.admin_view(self.show_act)
        return [path("<str:object_id>/act/<str:act>/", view, name=name), *super().get_urls()]

    def show_act(self, request: HttpRequest, object_id: str, act: str) -> HttpResponse:
        """Perform an act on one object. The form of an act is shown first."""
        chosen = next((each for each in self.acts if each.name == act), None)
        row = self.get_object(request, object_id)
        if chosen is None:
            raise Http404
        if not chosen.is_permitted(get_actor(request), row):
            raise PermissionDenied
        if chosen.form is None:
            return self.perform_posted_act(request, chosen, row, {})
        if request.method != "POST" and not chosen.is_offered(row):
            self.message_user(request, f"“{chosen.label}” is not possible for “{row}” now.", messages.ERROR)
            return HttpResponseRedirect(self.find_next_page(request, row))
        form = chosen.form(request.POST if request.method == "POST" else None, initial=dict(chosen.read_initial(row)))
        if form.is_valid():
            return self.perform_posted_act(request, chosen, row, form.cleaned_data)
        options = {"opts": self.opts, "title": f"{chosen.label}: {row}", **self.admin_site.each_context(request)}
        context = {"act": chosen, "form": form, "original": row, "media": self.media}
        return TemplateResponse(request, "users/act.html", options | context)

    @method_decorator(require_POST)
    def perform_posted_act(self, request: HttpRequest, act: Act, row: Any, values: Mapping[str, Any]) -> HttpResponse:
        self.perform_act(request, act, [row], values)
        return HttpResponseRedirect(self.find_next_page(request, row))

    def find_next_page(self, request: HttpRequest, row: Any) -> str:
        """Return the page of the admin that the button names; by default the page of the object."""
        page = request.POST.get("next", "")
        if page.startswith(reverse("admin:index")):  # a path of this server, so never another site
            return page
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[row.pk])

    def perform_act(
        self, request: HttpRequest, act: Act, rows: Sequence[Any], values: Mapping[str, Any] | None = None
    ) -> None:
        """Perform an act, write the log of the admin, and show what was done."""
        outcome = act.perform(get_actor(request), rows, values or {})
        for row in outcome.done:
            self.log_change(request, row, f"{act.done}.")
        if outcome.done:
            verb = "was" if len(outcome.done) == 1 else "were"
            text = f"{self.name_rows(outcome.done)} {verb} {act.done.lower()}."
            self.message_user(request, text, messages.SUCCESS)
        report_refused(request, act.done.lower(), outcome)

    def name_rows(self, rows: Sequence[Any]) -> str:
        if len(rows) == 1:
            return f"“{shorten(str(rows[0]))}”"
        return f"{len(rows)} {self.opts.verbose_name_plural}"

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the actions of the list, with the acts that need no values."""
        actions: dict[str, Any] = super().get_actions(request)
        if "_popup" in request.GET:
            return actions
        return actions | {
            act.name: (build_action(act), act.name, f"{act.label} the selected {self.opts.verbose_name_plural}")
            for act in self.acts
            if act.form is None
        }

    def list_acts(self, actor: Actor, row: Any) -> list[Act]:
        """Return the acts that the actor may do to an object in its present state."""
        return [act for act in self.acts if act.is_offered(row) and act.is_permitted(actor, row)]

    def render_change_form(self, request: HttpRequest, context: Any, *arguments: Any, **options: Any) -> Any:
        row = options.get("obj")
        if row is not None:
            context["acts"] = self.list_acts(get_actor(request), row)
        return super().render_change_form(request, context, *arguments, **options)


def build_action(act: Act) -> Callable[[ActsAdmin, HttpRequest, models.QuerySet[Any]], None]:
    """Return an action of the list that performs an act on the selected objects."""

    def run(admin: ActsAdmin, request: HttpRequest, selected: models.QuerySet[Any]) -> None:
        admin.perform_act(request, act, read_selected(admin, selected, MOST))

    return run


def name_some(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    others = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(f"“{shorten(name)}”" for name in names[:NAMED]) + others


def shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
