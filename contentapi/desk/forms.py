"""The form of an object that a service writes, and its fields."""

import re
from typing import Any, ClassVar

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from unfold.widgets import UnfoldAdminTextareaWidget

from contentapi.core.errors import ApiError
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.text import convert_to_camel

LINE_END = re.compile(r"\r\n|\r|\n")


class RelatedChoiceField(forms.ModelChoiceField):
    """The choice of a related object. Django's widget would fail on a text that is no id."""

    def prepare_value(self, value: Any) -> Any:
        prepared = super().prepare_value(value)
        return prepared if parse_id(str(prepared)) else None


class Textarea(UnfoldAdminTextareaWidget):
    """A text that keeps an empty first line: the theme's template loses it, because HTML drops the first line end."""

    template_name = "django/forms/widgets/textarea.html"


class TextField(forms.CharField):
    """A text with the line ends that it is stored with. Browsers send CR LF for every line end."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text and text.replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


class LinesField(SimpleArrayField):
    """A list of texts, one on each line. Empty lines are ignored. A stored text with a line end is several lines."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(split_lines(value) if isinstance(value, str) else value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return split_lines("\n".join(initial or ())) != split_lines(data or "")


def split_lines(text: str) -> list[str]:
    """Return the lines that are not empty, stripped. `str.splitlines` also splits at characters that a tag may have."""
    return [line.strip() for line in LINE_END.split(text) if line.strip()]


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
