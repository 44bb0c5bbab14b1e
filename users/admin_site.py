"""The admin site: limits wrong passwords, shows API errors as pages and forms, and writes through services."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.http.failure_log import classify_and_record
from users.authentication import build_session_actor
from users.login import throttle_login
from users.pages import render_page


class AdminSite(admin.AdminSite):
    site_header = site_title = "Content API"
    index_title = "Editors' desk"
    site_url = None

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return throttle_login(super().login)(request, extra_context)

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Return the view with Django's checks. An API error, a 403 and a 404 become an HTML page, not JSON."""
        checked = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *arguments: Any, **options: Any) -> Any:
            try:
                return checked(request, *arguments, **options)
            except (ApiError, PermissionDenied, Http404) as error:
                return render_error(request, classify_and_record(error))

        return guarded


def render_error(request: HttpRequest, error: ApiError) -> HttpResponse:
    context = {"title": HTTPStatus(error.status).phrase, "message": error.message}
    return render_page(request, "error", context, status=error.status)


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


class ServiceAdmin(admin.ModelAdmin):
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
            request.api_error = error  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **options)
        form.api_error = getattr(request, "api_error", None)  # the class is made for this request
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = build_session_actor(request.user)
        if change:
            self.edit(actor, obj, form)
        else:
            obj.pk = self.create(actor, obj, form).pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.delete(build_session_actor(request.user), obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: Iterable[Any]) -> None:
        actor = build_session_actor(request.user)
        for row in queryset:
            self.delete(actor, row)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        return self.show_error(
            request, lambda: super(ServiceAdmin, self).delete_view(request, object_id, extra_context)
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return self.show_error(request, lambda: super(ServiceAdmin, self).changelist_view(request, extra_context))

    def show_error(self, request: HttpRequest, view: Callable[[], Any]) -> Any:
        """Return the response of a view; if it raises an `ApiError`, show the same page with a message."""
        try:
            return view()
        except ApiError as error:
            self.message_user(request, error.message, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
