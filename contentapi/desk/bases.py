"""The base class of the admins: the policy decides, the services write, and a list takes only known parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urljoin

from django.contrib import admin, messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldBooleanWidget

from contentapi.auth.sessions import get_actor
from contentapi.core.errors import ApiError, Malformed
from contentapi.core.identity import Actor
from contentapi.desk.actions import Action, begin_action, count_rows, list_offered_actions, quote, run_bulk, show_action
from contentapi.desk.forms import RelatedChoiceField, ServiceForm, Textarea
from contentapi.desk.lists import BoundedList, BoundedPaginator
from contentapi.desk.rendering import build_time_column, describe_error

CHECKBOX = UnfoldBooleanWidget({"class": "action-select"})  # Django's script finds the boxes by this class


class Page(NamedTuple):
    """A page beside Django's: its route below that of the model, its name, and the function that responds.

    The function gets the request, the admin as `model_admin`, and the values of the route. `back` is the address,
    relative to this page, that shows the message of an `ApiError` of a POST; without it, a page of its own does.
    """

    route: str
    name: str
    respond: Callable[..., Any]
    back: str = ""


ACTION_PAGE = Page("<str:object_id>/act/<str:name>/", "action", show_action)
LIST_ACTION_PAGE = Page("bulk/<str:name>/", "bulk", run_bulk)


class PolicyAdmin(ModelAdmin):
    """An admin that asks the policy: subclasses have `may_open` and `select_rows`, and override other answers.

    The list has the rows that `select_rows` returns. A page of one object may show more: `find_row` returns any object
    that the actor may see. An object that the actor may not see does not exist: the response is 404.

    An `ApiError` of `create` or `edit` is an error of the form, which is shown again with the values that were sent. An
    `ApiError` of `delete` is a message; of several selected rows, then none is deleted.
    """

    form: type[ServiceForm] = ServiceForm

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
    deletion_note: ClassVar[str] = ""  # replaces "This cannot be undone." on the page that confirms a deletion
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # numbers beside each choice of a filter: one slow count for each
    compressed_fields = False
    formfield_overrides: ClassVar[Mapping[Any, Any]] = {models.TextField: {"widget": Textarea}}

    class Media:
        css: ClassVar = {"all": ["desk/actions.css"]}

    # Rules of the policy. An object is None on a page of no object in particular, such as the list.
    may_open: Callable[[Actor], bool]  # the list
    may_add: Callable[[Actor], bool] = staticmethod(lambda _: False)
    may_change: Callable[[Actor, Any], bool] = staticmethod(lambda *_: False)
    may_delete: Callable[[Actor, Any], bool] = staticmethod(lambda *_: False)
    select_rows: Callable[[Actor], models.QuerySet[Any]]  # of the list
    # An object that the list leaves out and that the actor may see, by its id
    find_row: Callable[[Actor, str], models.Model | None] = staticmethod(lambda *_: None)

    # Services, for a model whose objects they write
    create: Callable[[Actor, Any, Any], models.Model]  # from a row and its form. Returns the new row
    edit: Callable[[Actor, Any, Any], None]  # saves the changes of a row that a form describes
    delete: Callable[[Actor, Any], object]

    search_rows: Callable[[HttpRequest, Any, str], Any] | None = None  # that have a text: replaces Django's search
    show_created_at = build_time_column("created_at", "Created at", ordering="created_at")

    def may_see(self, actor: Actor, row: Any) -> bool:
        return self.may_open(actor)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        if self.search_rows is None:
            return super().get_search_results(request, queryset, search_term)
        return (self.search_rows(request, queryset, search_term) if search_term.strip() else queryset), False

    def build_form_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return variables for the template of the form. `row` is None on the page of a new object."""
        return {}

    def get_address(self, page: str, *values: Any) -> str:
        """Return the address of a page of this model."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=values)

    def render(self, request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
        """Return a page of this model, in the frame of the admin."""
        frame = {"opts": self.opts, "media": self.media, **self.admin_site.each_context(request)}
        return TemplateResponse(request, template, frame | context, status=status)

    def get_urls(self) -> list[URLPattern]:
        actions = [ACTION_PAGE] if self.desk_actions and self.has_action_buttons else []
        actions += [LIST_ACTION_PAGE] if any(not action.has_form for action in self.desk_actions) else []
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
        row = options.get("obj")
        if row is not None and self.has_action_buttons:
            context["desk_actions"] = list_offered_actions(self.desk_actions, get_actor(request), row)
        if row is None and self.shown_once_template:
            context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        context |= self.build_form_context(request, row)
        return super().render_change_form(request, context, *arguments, **options)

    def list_actions(self, request: HttpRequest) -> list[Action]:
        """Return the actions of the list on many objects. One that needs values for each object is not among them."""
        return [action for action in self.desk_actions if not action.has_form]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return Django's actions of the list, and those on objects."""
        actions: dict[str, Any] = super().get_actions(request)
        if "_popup" in request.GET:
            return actions
        for action in self.list_actions(request):
            label = action.list_label or f"{action.label} the selected {self.opts.verbose_name_plural}"
            actions[action.name] = (partial(begin_action, action=action), action.name, label)
        return actions

    def select_for_action(self, request: HttpRequest, action: Action) -> models.QuerySet[Any]:
        """Return the rows that an action of the list may change, with what `describe_row` and the services read."""
        return self.select_rows(get_actor(request))

    def describe_row(self, row: Any) -> str:
        """Return what a page that asks before an action says about an object, beside its name."""
        return ""

    def log_action(self, request: HttpRequest, action: Action, row: Any) -> None:
        self.log_change(request, row, f"{action.done}.")

    def describe_outcome(self, action: Action, rows: Sequence[Any]) -> str:
        name = f"{quote(rows[0])} was" if len(rows) == 1 else f"{count_rows(self, len(rows))} were"
        return f"{name} {action.done.lower()}."

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> Any:
        if self.shown_once_template:
            return self.show_secret(request, obj)
        return super().response_add(request, obj, post_url_continue)

    def show_secret(self, request: HttpRequest, row: Any) -> HttpResponse:
        """Show a secret in this response only: it is in no cookie, no session and no message."""
        context = {"title": str(row), "row": row, "secret": row.secret_shown_once}
        response = self.render(request, self.shown_once_template, context)
        response["Cache-Control"] = "no-store"
        return response

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        actor = get_actor(request)
        return self.may_open(actor) if obj is None else self.may_see(actor, obj)

    has_module_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.may_add(get_actor(request))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may_change(get_actor(request), obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may_delete(get_actor(request), obj)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return self.select_rows(get_actor(request)).order_by(*self.get_ordering(request))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the object. Raises `Http404`; Django would redirect to the first page."""
        row = super().get_object(request, object_id, from_field) or self.find_row(get_actor(request), object_id)
        if row is None:
            raise Http404
        return row

    def get_editable(self, request: HttpRequest, object_id: str) -> Any:
        """Return an object that the actor may change. Raises `Http404`, and `PermissionDenied` for others."""
        row = self.get_object(request, object_id)
        if not self.may_change(get_actor(request), row):
            raise PermissionDenied
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

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *others: Any) -> Any:
        try:
            return super().changeform_view(request, object_id, *others)
        except ApiError as error:  # the form again, with the values that were sent and the error
            request.api_error = error  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, *others)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **options)
        form.api_error = getattr(request, "api_error", None)  # the class is made for this request
        form.actor = get_actor(request)
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            self.edit(get_actor(request), obj, form)
        else:
            vars(obj).update(vars(self.create(get_actor(request), obj, form)))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete(get_actor(request), obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: Iterable[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        """Return how many other objects are deleted with these rows, by the name of their kind."""
        return {}

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Return what a deletion removes, with numbers of other objects: Django would load each of them."""
        rows = list(objs)
        counts = {str(self.opts.verbose_name_plural): len(rows), **self.count_dependents(rows)}
        return [str(row) for row in rows], counts, set(), []

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        return self.show_error(request, partial(super().delete_view, request, object_id, extra_context))

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
