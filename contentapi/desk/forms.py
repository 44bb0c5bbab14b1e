"""The form of an object that a service writes, and its fields."""

from typing import Any, ClassVar

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.text import convert_to_camel


class RelatedChoiceField(forms.ModelChoiceField):
    """The choice of a related object. Django's widget would fail on a text that is no id."""

    def prepare_value(self, value: Any) -> Any:
        prepared = super().prepare_value(value)
        return prepared if parse_id(str(prepared)) else None


class Textarea(UnfoldAdminTextareaWidget):
    """A text that keeps an empty first line: the theme's template loses it, because HTML drops the first line end."""

    template_name = "django/forms/widgets/textarea.html"


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
