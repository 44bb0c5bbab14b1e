"""The own fields of a row in a form of the desk: one field of Django, with an input for each own field."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from contentapi.core.errors import ApiError
from contentapi.desk.forms import Textarea, split_lines
from contentapi.types.fields import Kind, OwnField
from contentapi.types.own_bodies import parse_text
from contentapi.types.own_fields import COLUMN, OwnFields, encode_times
from contentapi.types.values import find_problem

ONE_LINE = 200  # characters of a text that fits into one line
BOOLEANS = (("true", "Yes"), ("false", "No"))


def label_field(field: OwnField) -> str:
    """Return the words of a name: `Event at` for `eventAt`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", field.name).capitalize()


def build_widget(field: OwnField) -> Any:
    """Return an input whose value is one text, as the scripts of the editor expect it."""
    if field.is_list:
        return Textarea({"rows": 3, "class": "grows"})
    if field.kind in (Kind.BOOLEAN, Kind.ENUM):
        choices = BOOLEANS if field.kind == Kind.BOOLEAN else [(value, value) for value in field.values]
        return UnfoldAdminSelectWidget(choices=choices if field.is_required else [("", "—"), *choices])
    if field.kind == Kind.TEXT and field.max_length > ONE_LINE:
        return Textarea({"rows": 3, "class": "grows", "maxlength": field.max_length})
    return UnfoldAdminTextInputWidget({"dir": "auto"})


class OwnFieldsInput(forms.MultiWidget):
    """The inputs, each with its label and its description. Their names begin with `own_`."""

    template_name = "desk/own_fields.html"

    def __init__(self, own: OwnFields) -> None:
        self.own = own
        super().__init__({name: build_widget(field) for name, field in own.fields.items()})

    def decompress(self, value: Mapping[str, Any] | None) -> list[str]:
        return [write_text(field, (value or {}).get(field.name)) for field in self.own.fields.values()]

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        for field, widget in zip(self.own.fields.values(), context["widget"]["subwidgets"], strict=True):
            widget |= {"label": label_field(field), "help": describe_input(field)}
        return context


class OwnFieldsField(forms.Field):
    """All own fields. The value has each by its name; None is no value."""

    def __init__(self, own: OwnFields) -> None:
        self.own = own
        super().__init__(required=False, label="Own fields", widget=OwnFieldsInput(own))

    def to_python(self, value: Any) -> dict[str, Any]:
        values, problems = {}, []
        for field, text in zip(self.own.fields.values(), value or [""] * len(self.own.fields), strict=True):
            try:
                values[field.name] = read_text(field, (text or "").replace("\r\n", "\n"))
                problem = find_problem(field, values[field.name])
            except ApiError as error:
                problem = error.message
            problems += [f"{label_field(field)}: {problem}"] if problem else []
        if problems:
            raise ValidationError(problems)
        return values

    def has_changed(self, initial: Any, data: Any) -> bool:
        shown = self.widget.decompress(initial)
        return [text.split() for text in shown] != [(text or "").split() for text in data or shown]


def keep_changes(own: OwnFields, stored: Mapping[str, Any] | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values of a form that differ from what it showed: of a row, or of a new one."""
    shown = OwnFieldsInput(own).decompress(stored)
    was = {field.name: text for field, text in zip(own.fields.values(), shown, strict=True)}
    fields = {field.name: field for field in own.fields.values()}
    return {name: value for name, value in values.items() if write_text(fields[name], encode_times(value)) != was[name]}


def read_text(field: OwnField, text: str) -> Any:
    """Return the value that an input states. An empty one clears the field. Raises `Malformed`."""
    if field.is_list:
        return [parse_text(field, line) for line in split_lines(text)]
    return parse_text(field, text) if text.strip() else None


def write_text(field: OwnField, value: Any) -> str:
    if value is None:
        value = field.default
    if isinstance(value, list):
        return "\n".join(write_text(field, item) for item in value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def describe_input(field: OwnField) -> str:
    """Return the description of a field, and how its input states a value."""
    form = "A time such as 2026-11-21T09:30:00+00:00." if field.kind == Kind.TIME else ""
    if field.is_list:
        values = f": {', '.join(field.values)}" if field.values else ""
        form = f"One value on each line{values}."
    return f"{field.description} {form}".strip()


def list_own_inputs(own: OwnFields) -> list[str]:
    """Return the names of the inputs in a form."""
    return [f"{COLUMN}_{name}" for name in own.fields]
