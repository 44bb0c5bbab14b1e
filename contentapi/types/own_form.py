"""Values of fields of the SDL in forms of the desk, each as one text; and the own fields of a row as one field."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from contentapi.core.errors import ApiError
from contentapi.desk.forms import Textarea, split_lines
from contentapi.types.bodies import parse_text
from contentapi.types.fields import NUMBERS, Kind, OwnField
from contentapi.types.own_fields import COLUMN, OwnFields
from contentapi.types.values import find_problem

ONE_LINE = 200  # characters of a text that fits into one line
BOOLEANS = [("false", "No"), ("true", "Yes")]


def build_widget(field: OwnField) -> Any:
    """Return an input whose value is one text, as the scripts of the editor expect it."""
    if field.is_list:
        return Textarea({"rows": 3, "class": "grows"})
    if field.kind in (Kind.BOOLEAN, Kind.ENUM):
        return UnfoldAdminSelectWidget(choices=list_choices(field))
    if field.kind in NUMBERS:
        return UnfoldAdminTextInputWidget({"type": "number", **list_limits(field)})
    if field.kind == Kind.TEXT and field.max_length > ONE_LINE:
        return Textarea({"rows": 3, "class": "grows", "maxlength": field.max_length})
    return UnfoldAdminTextInputWidget({"dir": "auto", "maxlength": field.max_length})


def list_choices(field: OwnField) -> Sequence[tuple[str, str]]:
    choices = BOOLEANS if field.kind == Kind.BOOLEAN else [(value, value) for value in field.values]
    return choices if field.is_required else [("", "—"), *choices]


def list_limits(field: OwnField) -> dict[str, Any]:
    """Return the attributes of the input of a number."""
    limits = {"min": field.minimum, "max": field.maximum, "step": 1 if field.kind == Kind.INT else "any"}
    return {name: limit for name, limit in limits.items() if limit is not None}


def write_text(field: OwnField, value: Any) -> str:
    """Return the text of a value in an input. A text stays as it is."""
    if value is None:
        value = field.default
    if isinstance(value, list):
        return "\n".join(write_text(field, item) for item in value)
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def describe_input(field: OwnField) -> str:
    """Return the description of a field, and how its input states a value."""
    form = "A time such as 2026-11-21T09:30:00+00:00." if field.kind == Kind.TIME else ""
    if field.is_list:
        values = f": {', '.join(field.values)}" if field.values else ""
        form = f"One value on each line{values}."
    return f"{field.description} {form}".strip()


class ValueField(forms.Field):
    """The value of a field of the SDL; None is no value. Its errors begin with its label, if it `names_itself`."""

    def __init__(self, declared: OwnField, *, names_itself: bool = False, **options: Any) -> None:
        self.declared, self.prefix = declared, f"{declared.label}: " if names_itself else ""
        widget, help_text = build_widget(declared), describe_input(declared)
        super().__init__(widget=widget, label=declared.label, help_text=help_text, **options)

    def prepare_value(self, value: Any) -> str:
        return write_text(self.declared, value)

    def to_python(self, value: str | None) -> Any:
        """Return the value that an input states. An empty one clears the field. Raises `ValidationError`."""
        field, text = self.declared, (value or "").replace("\r\n", "\n")
        try:
            if field.is_list:
                stated: Any = [parse_text(field, line) for line in split_lines(text)]
            else:
                stated = parse_text(field, text) if text.strip() else None
            problem = find_problem(field, stated)
        except ApiError as error:
            problem = error.message
        if problem:
            raise ValidationError(f"{self.prefix}{problem}")
        return stated

    def has_changed(self, initial: Any, data: str | None) -> bool:
        return write_text(self.declared, initial) != (data or "").replace("\r\n", "\n")


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
            widget |= {"label": field.label, "help": describe_input(field)}
        return context


class OwnFieldsField(forms.MultiValueField):
    """All own fields. The value has each by its name; None is no value."""

    def __init__(self, own: OwnFields) -> None:
        self.own = own
        fields = [ValueField(field, required=False, names_itself=True) for field in own.fields.values()]
        widget = OwnFieldsInput(own)
        super().__init__(fields, require_all_fields=False, required=False, label="Own fields", widget=widget)

    def compress(self, data_list: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.own.names, data_list or [None] * len(self.own.names), strict=True))


def keep_changes(own: OwnFields, stored: Mapping[str, Any] | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values of a form that differ from what it showed: of a row, or of a new one."""
    fields = {field.name: field for field in own.fields.values()}
    was = {name: write_text(field, (stored or {}).get(name)) for name, field in fields.items()}
    return {name: value for name, value in values.items() if write_text(fields[name], value) != was[name]}


def list_own_inputs(own: OwnFields) -> list[str]:
    """Return the names of the inputs in a form."""
    return [f"{COLUMN}_{name}" for name in own.fields]
