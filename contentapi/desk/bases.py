"""Base classes of the admin's pages: the policy decides, the services write, and a list takes only known parameters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urljoin

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldBooleanWidget

from contentapi.auth.sessions import build_session_actor
from contentapi.core.errors import ApiError, Malformed
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.desk.actions import Action, Outcome, find_action, list_offered_actions, report_refused, shorten
from contentapi.desk.bulk import begin_action, count_rows, perform_slice
from contentapi.desk.lists import BoundedList, BoundedPaginator
from contentapi.desk.rendering import RelatedChoiceField, Textarea, describe_error

CHECKBOX = UnfoldBooleanWidget({"class": "action-select"})  # Django's script finds the boxes by this class


def get_actor(request: HttpRequest) -> Actor:
    """Return the actor of the user who is logged in; the anonymous actor if nobody is."""
    return build_session_actor(request.user) if request.user.is_authenticated else ANONYMOUS


class Page(NamedTuple):
    """A page beside Django's: its route below that of the model, its name, and the function that responds.

    The function gets the request, the admin as `model_admin`, and the values of the route. `back` is the address,
    relative to this page, that shows the message of an `ApiError` of a POST; without it, a page of its own does.
    """

    route: str
    name: str
    respond: Callable[..., Any]
    back: str = ""


class PolicyAdmin(ModelAdmin):
    """An admin that asks the policy: subclasses have `may_open` and `select_rows`, and override other answers.

    The list has the rows that `select_rows` returns. A page of one object may show more: `find_row` returns any object
    that the actor may see. An object that the actor may not see does not exist: the response is 404.
    """

    pages: ClassVar[Sequence[Page]] = ()
    desk_actions: ClassVar[Sequence[Action]] = ()  # Django calls the actions of the list `actions`
    has_action_buttons = True  # above the form of an object
    change_form_outer_before_template = "desk/actions.html"
    list_lookups: ClassVar[frozenset[str]] = frozenset()  # the parameters of the list's filters
    list_filter_submit = True  # a button applies all filters at once
    list_per_page = 25
    list_sections: ClassVar[Sequence[Any]] = ()  # the theme asks for it twice for each row; an absent name is slow
    list_class: ClassVar[type[BoundedList]] = BoundedList
    list_deferred: ClassVar[Sequence[str]] = ()  # columns with long texts that the list does not show
    paginator: ClassVar[Any] = BoundedPaginator
    list_after_template = "desk/list_note.html"
    delete_confirmation_template: Any = "desk/delete.html"
    delete_selected_confirmation_template: Any = "desk/delete.html"
    shown_once_template: ClassVar[str] = ""  # shows `secret_shown_once`, which actions and `create` give an object
    created_title: ClassVar[str] = ""  # of this page for a new object
    deletion_note: ClassVar[str] = ""  # replaces "This cannot be undone." on the page that confirms a deletion
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # numbers beside each choice of a filter: one slow count for each
    compressed_fields = False
    formfield_overrides: ClassVar[Mapping[Any, Any]] = {models.TextField: {"widget": Textarea}}

    # Rules of the policy. An object is None on a page of no object in particular, such as the list.
    may_open: Callable[[Actor], bool]  # the list
    may_add: Callable[[Actor], bool] = staticmethod(lambda _: False)
    may_change: Callable[[Actor, Any], bool] = staticmethod(lambda *_: False)
    may_delete: Callable[[Actor, Any], bool] = staticmethod(lambda *_: False)
    select_rows: Callable[[Actor], models.QuerySet[Any]]  # of the list
    # An object that the list leaves out and that the actor may see, by its id
    find_row: Callable[[Actor, str], models.Model | None] = staticmethod(lambda *_: None)

    search_rows: Callable[[HttpRequest, Any, str], Any] | None = None  # that have a text: replaces Django's search

    def may_see(self, actor: Actor, row: Any) -> bool:
        return self.may_open(actor)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        if self.search_rows is None:
            return super().get_search_results(request, queryset, search_term)
        return (self.search_rows(request, queryset, search_term) if search_term.strip() else queryset), False

    def build_form_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return variables for the template of the form. `row` is None on the page of a new object."""
        return {}

    def render(
        self, request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
    ) -> TemplateResponse:
        """Return a page of this model, in the frame of the admin."""
        frame = {"opts": self.opts, "media": self.media, **self.admin_site.each_context(request)}
        return TemplateResponse(request, template, frame | context, status=status)

    @property
    def media(self) -> Any:
        return super().media + forms.Media(css={"all": ["desk/actions.css"]} if self.desk_actions else {})

    def get_urls(self) -> list[URLPattern]:
        actions = [ACTION_PAGE] if self.desk_actions and self.has_action_buttons else []
        actions += [LIST_ACTION_PAGE] if any(action.form is None for action in self.desk_actions) else []
        own = [
            path(
                page.route,
                self.admin_site.admin_view(partial(self.open_page, page=page)),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{page.name}",
            )
            for page in [*self.pages, *actions]
        ]
        return [*own, *super().get_urls()]

    def open_page(self, request: HttpRequest, page: Page, **values: Any) -> Any:
        view = partial(page.respond, request, model_admin=self, **values)
        return self.show_error(request, view, page.back) if page.back else view()

    def render_change_form(self, request: HttpRequest, context: Any, *arguments: Any, **options: Any) -> Any:
        row, actor = options.get("obj"), get_actor(request)
        if row is not None:
            actions = self.desk_actions if self.has_action_buttons else []
            context["desk_actions"] = list_offered_actions(actions, actor, row)
        if row is None and self.shown_once_template:
            context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        context |= self.build_form_context(request, row)
        return super().render_change_form(request, context, *arguments, **options)

    def list_actions(self, request: HttpRequest) -> list[Action]:
        """Return the actions of the list on many objects. One that needs values for each object is not among them."""
        return [action for action in self.desk_actions if action.form is None]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return Django's actions of the list, and those on objects."""
        actions: dict[str, Any] = super().get_actions(request)
        if "_popup" in request.GET:
            return actions
        for action in self.list_actions(request):
            label = action.list_label or f"{action.label} the selected {self.opts.verbose_name_plural}"
            actions[action.name] = (partial(begin_action, action=action), action.name, label)
        return actions

    def select_for_action(self, request: HttpRequest) -> models.QuerySet[Any]:
        """Return the rows that an action of the list may change, with what `describe_row` and the services read."""
        return self.select_rows(get_actor(request))

    def describe_row(self, row: Any) -> str:
        """Return what a page that asks before an action says about an object, beside its name."""
        return ""

    def perform(self, request: HttpRequest, action: Action, rows: Sequence[Any], values: Mapping[str, Any]) -> Outcome:
        """Perform an action, and write the log of the admin."""
        return action.perform(get_actor(request), rows, values, partial(self.log_action, request, action))

    def log_action(self, request: HttpRequest, action: Action, row: Any) -> None:
        self.log_change(request, row, f"{action.done}.")

    def report(self, request: HttpRequest, action: Action, outcome: Outcome) -> None:
        """Show what an action has done, and which objects it has refused."""
        if outcome.done:
            self.message_user(request, self.describe_outcome(action, outcome.done), messages.SUCCESS)
        report_refused(request, action.done.lower(), outcome)

    def describe_outcome(self, action: Action, rows: Sequence[Any]) -> str:
        name = f"“{shorten(str(rows[0]))}” was" if len(rows) == 1 else f"{count_rows(self, len(rows))} were"
        return f"{name} {action.done.lower()}."

    def perform_on_one(self, request: HttpRequest, action: Action, row: Any, values: Mapping[str, Any]) -> HttpResponse:
        """Perform an action on one object. Return the next page, or the one with its new secret."""
        self.report(request, action, self.perform(request, action, [row], values))
        if getattr(row, "secret_shown_once", ""):
            return self.show_secret(request, row, f"{row} has a new secret")
        return HttpResponseRedirect(find_next_page(request, self, row))

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> Any:
        if self.shown_once_template:
            return self.show_secret(request, obj, self.created_title.format(obj))
        return super().response_add(request, obj, post_url_continue)

    def show_secret(self, request: HttpRequest, row: Any, title: str) -> HttpResponse:
        """Show a secret in this response only: it is in no cookie, no session and no message."""
        shown = {"title": title, "row": row, "secret": row.secret_shown_once}
        response = self.render(request, self.shown_once_template, shown)
        response["Cache-Control"] = "no-store"
        return response

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.may_open(get_actor(request))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        actor = get_actor(request)
        return self.may_open(actor) if obj is None else self.may_see(actor, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.may_add(get_actor(request))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may_change(get_actor(request), obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may_delete(get_actor(request), obj)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        rows = self.select_rows(get_actor(request))
        ordering = self.get_ordering(request)
        return rows.order_by(*ordering) if ordering else rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the object. Raises `Http404`; Django would redirect to the first page."""
        row = super().get_object(request, object_id, from_field) or self.find_row(get_actor(request), object_id)
        if row is None:
            raise Http404
        return row

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return super().formfield_for_foreignkey(db_field, request, form_class=RelatedChoiceField, **options)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[BoundedList]:
        return self.list_class

    @admin.display(description="Select")
    def action_checkbox(self, obj: models.Model) -> SafeString:
        """Return the box that selects a row, with the name of the row. The theme's template takes 0.4 ms for each."""
        html = '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="Select {}">'
        return format_html(html, ACTION_CHECKBOX_NAME, obj.pk, CHECKBOX.attrs["class"], obj)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow the parameters of the list's filters. Django would turn every other one into a condition."""
        return lookup in self.list_lookups

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return self.show_error(request, lambda: self.build_list(request, extra_context))

    def build_list(self, request: HttpRequest, extra_context: dict[str, Any] | None) -> Any:
        """Return the page of the list. Raises `Malformed` for values that no list can be filtered by."""
        if not all(selected.isdecimal() for selected in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise Malformed("A selected row has no valid id.")
        name = str(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": name[:1].upper() + name[1:], **(extra_context or {})})

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> Any:
        return super().render_delete_form(request, {**context, "deletion_note": self.deletion_note})

    def show_error(self, request: HttpRequest, view: Callable[[], Any], back: str = "") -> Any:
        """Return the response of a view; if a POST raises an `ApiError`, lead to the same page, or back, to show it."""
        try:
            return view()
        except ApiError as error:
            if request.method != "POST":
                raise
            self.message_user(request, describe_error(error), messages.ERROR)
            return HttpResponseRedirect(urljoin(request.get_full_path(), back))


def show_action(request: HttpRequest, model_admin: PolicyAdmin, object_id: str, name: str) -> HttpResponse:
    """Perform an action on one object. The page of an action that has one is shown first."""
    action = find_action(model_admin.desk_actions, name)
    row, is_sent = model_admin.get_object(request, object_id), request.method == "POST"
    if not action.is_permitted(get_actor(request), row):
        raise PermissionDenied
    if not is_sent and not action.has_page:
        return HttpResponseNotAllowed(["POST"])
    if not is_sent and not action.is_offered(row):
        model_admin.message_user(request, f"“{action.label}” is not possible for “{row}” now.", messages.ERROR)
        return HttpResponseRedirect(find_next_page(request, model_admin, row))
    form = (action.form or forms.Form)(request.POST if is_sent else None, initial=dict(action.read_initial(row)))
    if form.is_valid():
        return model_admin.perform_on_one(request, action, row, form.cleaned_data)
    context = {
        "title": f"{action.label}: {row}",
        "action": action,
        "form": form,
        "description": model_admin.describe_row(row),
        "back": find_next_page(request, model_admin, row),
    }
    return model_admin.render(request, "desk/action.html", context)


def find_next_page(request: HttpRequest, model_admin: PolicyAdmin, row: Any) -> str:
    """Return the page of the admin that the button names; by default the page of the object."""
    page = request.POST.get("next") or request.GET.get("next", "")
    if page.startswith(reverse("admin:index")):  # a path of this server, so never another site
        return page
    return reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_change", args=[row.pk])


ACTION_PAGE = Page("<str:object_id>/act/<str:name>/", "action", show_action)
LIST_ACTION_PAGE = Page("bulk/<str:name>/", "bulk", perform_slice)
