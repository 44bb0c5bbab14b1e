"""Base classes of the admin's pages: the policy decides, the services write, and a list takes only known parameters.

PolicyAdmin            permissions and visible rows
└── ServiceAdmin       writes
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldBooleanWidget

from contentapi.core.errors import ApiError, Malformed
from contentapi.core.identity import ANONYMOUS, Actor
from contentapi.core.text import require_storable
from users.authentication import build_session_actor
from users.desk.lists import BoundedList, BoundedPaginator
from users.desk.rendering import Textarea

CHECKBOX = UnfoldBooleanWidget({"class": "action-select"})  # Django's script finds the boxes by this class


def get_actor(request: HttpRequest) -> Actor:
    """Return the actor of the user who is logged in; the anonymous actor if nobody is."""
    return build_session_actor(request.user) if request.user.is_authenticated else ANONYMOUS


class PolicyAdmin(ModelAdmin):
    """An admin that asks the policy: subclasses implement `may_open` and `select_rows`, and override other answers.

    The list has the rows that `select_rows` returns. A page of one object may show more: `find_row` returns any object
    that the actor may see. An object that the actor may not see does not exist: the response is 404.
    """

    list_lookups: ClassVar[frozenset[str]] = frozenset()  # the parameters of the list's filters
    list_per_page = 25
    list_sections: ClassVar[Sequence[Any]] = ()  # the theme asks for it twice for each row; an absent name is slow
    paginator: ClassVar[Any] = BoundedPaginator
    list_after_template = "users/list_note.html"
    delete_confirmation_template: Any = "users/delete.html"
    delete_selected_confirmation_template: Any = "users/delete.html"
    deletion_note: ClassVar[str] = ""  # what the page before a deletion says in place of "This cannot be undone."
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # numbers beside each choice of a filter: one slow count for each
    compressed_fields = False
    formfield_overrides: ClassVar[Mapping[Any, Any]] = {models.TextField: {"widget": Textarea}}

    def may_open(self, actor: Actor) -> bool:
        """Return whether the actor may open the list."""
        raise NotImplementedError

    def select_rows(self, actor: Actor) -> models.QuerySet[Any]:
        """Return the rows of the list."""
        raise NotImplementedError

    def find_row(self, actor: Actor, row_id: str) -> models.Model | None:
        """Return an object that the list leaves out and that the actor may see."""
        return None

    def may_see(self, actor: Actor, row: Any) -> bool:
        return self.may_open(actor)

    def may_add(self, actor: Actor) -> bool:
        return False

    def may_change(self, actor: Actor, row: Any) -> bool:
        """Return whether the actor may change this object. None is any object: then the result is about the list."""
        return False

    def may_delete(self, actor: Actor, row: Any) -> bool:
        return False

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

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[BoundedList]:
        return BoundedList

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
        require_storable(dict(request.GET.lists()))
        if not all(selected.isdecimal() for selected in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise Malformed("A selected row has no valid id.")
        name = str(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": name[:1].upper() + name[1:], **(extra_context or {})})

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> Any:
        return super().render_delete_form(request, {**context, "deletion_note": self.deletion_note})

    def show_error(self, request: HttpRequest, view: Callable[[], Any]) -> Any:
        """Return the response of a view; if an act raises an `ApiError`, show the same page with a message."""
        try:
            return view()
        except ApiError as error:
            if request.method != "POST":
                raise
            self.message_user(request, error.message, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())


class ServiceForm(forms.ModelForm):
    """A form whose values a service validates. `api_error` is the error that the service has raised, if any."""

    api_error: ApiError | None = None
    api_fields: ClassVar[dict[str, str]] = {}  # names of the API that are not the form's

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.api_error is not None:
            self.add_api_error(self.api_error)
        return cleaned

    def add_api_error(self, error: ApiError) -> None:
        if not error.fields:
            self.add_error(None, error.message)
        for name, problems in error.fields.items():
            field = self.api_fields.get(name, name)
            self.add_error(field if field in self.fields else None, list(problems))


class ServiceAdmin(PolicyAdmin):
    """An admin that writes through services: subclasses implement `create`, `edit` and `delete`.

    An `ApiError` of `create` or `edit` is an error of the form, which is shown again with the values that were sent. An
    `ApiError` of `delete` is a message; of several selected rows, then none is deleted.
    """

    form: type[ServiceForm] = ServiceForm

    def create(self, actor: Actor, row: Any, form: Any) -> models.Model:
        """Create the row that the form describes. Return the new row."""
        raise NotImplementedError

    def edit(self, actor: Actor, row: Any, form: Any) -> None:
        """Save the changes that the form describes."""
        raise NotImplementedError

    def delete(self, actor: Actor, row: Any) -> None:
        """Delete the row."""
        raise NotImplementedError

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        """Return how many other objects are deleted with these rows, by the name of their kind."""
        return {}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ApiError as error:
            return self.show_refusal(request, error, object_id, form_url, extra_context)

    def show_refusal(
        self,
        request: HttpRequest,
        error: ApiError,
        object_id: str | None,
        form_url: str,
        extra_context: dict[str, Any] | None,
    ) -> Any:
        """Return the response to a refused save: the form with the values that were sent and the error."""
        request.api_error = error  # type: ignore[attr-defined]
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **options)
        form.api_error = getattr(request, "api_error", None)  # the class is made for this request
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = get_actor(request)
        if change:
            self.edit(actor, obj, form)
        else:
            obj.pk = self.create(actor, obj, form).pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete(get_actor(request), obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: Iterable[Any]) -> None:
        actor = get_actor(request)
        for row in queryset:
            self.delete(actor, row)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        return self.show_error(
            request, lambda: super(ServiceAdmin, self).delete_view(request, object_id, extra_context)
        )

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return what a deletion removes: the rows, and numbers of other objects. The service decides whether it may.

        Django would load every dependent object and ask for a permission to delete each of them.
        """
        rows = list(objs)
        counts = {str(self.opts.verbose_name_plural): len(rows), **self.count_dependents(rows)}
        return [str(row) for row in rows], counts, set(), []
