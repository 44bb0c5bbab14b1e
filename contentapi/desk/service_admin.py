"""The admin of a model whose objects services write."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django import forms
from django.db import models, transaction
from django.http import HttpRequest

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.text import convert_to_camel
from contentapi.desk.bases import PolicyAdmin, get_actor


class ServiceForm(forms.ModelForm):
    """A form whose values a service validates. `api_error` is the error that the service has raised, if any."""

    actor: Actor  # of the request
    api_error: ApiError | None = None
    api_fields: ClassVar[dict[str, str]] = {}  # those of the API that have another name here

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            if isinstance(field.widget, forms.TextInput | forms.Textarea):
                field.widget.attrs.setdefault("dir", "auto")  # from the side of the script that a person types

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.api_error is not None:
            self.add_api_error(self.api_error)
        return cleaned

    def add_api_error(self, error: ApiError) -> None:
        if not error.fields:
            self.add_error(None, error.message)
        names = {convert_to_camel(name): name for name in self.fields} | self.api_fields
        for name, problems in error.fields.items():
            field = names.get(name, name)
            self.add_error(field if field in self.fields else None, list(problems))


class ServiceAdmin(PolicyAdmin):
    """An admin that writes through services: subclasses implement `create`, `edit` and `delete`.

    An `ApiError` of `create` or `edit` is an error of the form, which is shown again with the values that were sent. An
    `ApiError` of `delete` is a message; of several selected rows, then none is deleted.
    """

    form: type[ServiceForm] = ServiceForm

    create: Callable[[Actor, Any, Any], models.Model]  # from a row and its form. Returns the new row
    edit: Callable[[Actor, Any, Any], None]  # saves the changes of a row that a form describes
    delete: Callable[[Actor, Any], None]

    def count_dependents(self, rows: list[Any]) -> dict[str, int]:
        """Return how many other objects are deleted with these rows, by the name of their kind."""
        return {}

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
        actor = get_actor(request)
        if change:
            self.edit(actor, obj, form)
        else:
            vars(obj).update(vars(self.create(actor, obj, form)))

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
