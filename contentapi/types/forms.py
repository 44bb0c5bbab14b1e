"""The form of a row of an own type: a field for each field of the SDL, with its limits."""

from collections.abc import Sequence
from typing import Any, ClassVar

from ariadne import convert_camel_case_to_snake
from django import forms
from django.urls import reverse
from django.utils.module_loading import import_string
from unfold.widgets import (
    UnfoldAdminAutocompleteModelChoiceFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget,
    UnfoldAdminNullBooleanSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminSplitDateTimeWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from contentapi.core.errors import VersionConflict
from contentapi.core.pagination import parse_id
from contentapi.desk.forms import LinesField, ServiceForm, Textarea, TextField
from contentapi.types.declared import AUTHOR
from contentapi.types.fields import Kind, OwnField
from contentapi.types.models import OwnModel

LONG = 200  # characters; a text that may have more is edited in several lines
OPENED = "opened_version"
YES_OR_NO = [("", "Unknown"), ("true", "Yes"), ("false", "No")]


class RelatedInput(UnfoldAdminAutocompleteModelChoiceFieldWidget):
    """The choice of a row with suggestions from a page of the admin. It shows the name of the present row."""

    def __init__(self, own: OwnModel, field: OwnField) -> None:
        self.own, self.field = own, field
        super().__init__()

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        options = self.own.model._meta
        address = reverse(f"admin:{options.app_label}_{options.model_name}_choose", args=[self.field.name])
        return {**super().build_attrs(base_attrs, extra_attrs), "data-ajax--url": address}

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        ids = [parse_id(str(text)) for text in value]
        found = self.own.types[self.field.type_name].projection.model._default_manager.in_bulk(ids)
        chosen = [found[pk] for pk in ids if pk in found]
        options = [
            self.create_option(name, row.pk, str(row), selected=True, index=place) for place, row in enumerate(chosen)
        ]
        if not self.allow_multiple_selected and not self.is_required:
            options.insert(0, self.create_option(name, "", "", selected=False, index=0))
        return [(None, options, 0)]


class RelatedListInput(RelatedInput, UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget):
    """The choice of several rows, in the order of the list."""

    allow_multiple_selected = True


class RelatedField(forms.Field):
    """The id of a row, or a list of ids, as the column has it. The service decides whether they are allowed."""

    def __init__(self, *, is_list: bool, **options: Any) -> None:
        self.is_list = is_list
        super().__init__(**options)

    def to_python(self, value: Any) -> Any:
        if self.is_list:
            return [parse_id(str(text)) for text in value or ()]
        return None if value in self.empty_values else parse_id(str(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


def build_form_field(own: OwnModel, field: OwnField) -> forms.Field:
    """Return the field of a form for a field of the SDL."""
    label = convert_camel_case_to_snake(field.name).replace("_", " ").capitalize()
    is_required = field.is_required and field.name != AUTHOR  # the default is the profile of the person
    shared: dict[str, Any] = {"label": label, "help_text": field.description, "required": is_required}
    if field.kind == Kind.RELATION:
        key_input = own.types[field.type_name].key_input
        widget: Any = RelatedListInput(own, field) if field.is_list else RelatedInput(own, field)
        if key_input and not field.is_list:
            widget = import_string(key_input)()
        return RelatedField(is_list=field.is_list, widget=widget, **shared)
    if field.is_list:
        base = build_item_field(field, {"required": True})
        widget = Textarea({"rows": 4})
        return LinesField(base, delimiter="\n", max_length=field.max_items, widget=widget, **shared)
    return build_item_field(field, shared)


def build_item_field(field: OwnField, shared: dict[str, Any]) -> forms.Field:
    match field.kind:
        case Kind.INT | Kind.FLOAT:
            kind: Any = forms.IntegerField if field.kind == Kind.INT else forms.FloatField
            widget = UnfoldAdminIntegerFieldWidget({"step": "1" if field.kind == Kind.INT else "any"})
            number: forms.Field = kind(min_value=field.minimum, max_value=field.maximum, widget=widget, **shared)
            return number
        case Kind.BOOLEAN if shared["required"]:
            return forms.BooleanField(widget=UnfoldBooleanSwitchWidget(), **{**shared, "required": False})
        case Kind.BOOLEAN:
            return forms.NullBooleanField(widget=UnfoldAdminNullBooleanSelectWidget(), **shared)
        case Kind.TIME:
            return forms.SplitDateTimeField(widget=UnfoldAdminSplitDateTimeWidget(), **shared)
        case Kind.ENUM:
            choices = [*([] if shared["required"] else [("", "—")]), *((value, value) for value in field.values)]
            return forms.TypedChoiceField(choices=choices, empty_value=None, widget=UnfoldAdminSelectWidget(), **shared)
    is_long = field.max_length > LONG
    text = Textarea({"rows": 6, "class": "grows"}) if is_long else UnfoldAdminTextInputWidget()
    return TextField(max_length=field.max_length, empty_value=None, strip=False, widget=text, **shared)


class OwnForm(ServiceForm):
    """The form of a row. `opened_version` is the version that the person has seen."""

    own: ClassVar[OwnModel]
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        for field in self.own.sdl.fields:
            name = convert_camel_case_to_snake(field.input_name)
            if name in self.fields:
                value = getattr(row, self.own.get_column(field)) if row.pk else None
                self.fields[name].initial = self.initial[name] = value
        self.fields[OPENED].initial = row.version if row.pk else None
        if self.is_bound and isinstance(self.api_error, VersionConflict):  # who saves again has seen the notice
            present = self.own.model._default_manager.filter(pk=row.pk).values_list("version", flat=True).first()
            data: Any = self.data
            self.data = data = data.copy()
            data[OPENED] = str(present or "")

    def add_api_error(self, error: Any) -> None:
        if not isinstance(error, VersionConflict):
            super().add_api_error(error)
            return
        noun = self.own.nouns[0]
        self.add_error(
            None,
            f"Somebody has changed this {noun} since you opened it. Your values are below. Look at the present {noun}"
            " in another tab, and save again to replace it.",
        )

    def list_changes(self) -> dict[str, Any]:
        """Return the values that the person has changed, as the services take them: ids are texts."""
        changes = {name: self.cleaned_data[name] for name in self.changed_data if name != OPENED}
        for name, value in changes.items():
            if isinstance(self.fields[name], RelatedField) and value is not None:
                changes[name] = [*map(str, value)] if isinstance(value, list) else str(value)
        return changes


def build_form(own: OwnModel) -> type[OwnForm]:
    """Return the class of the form of a type. Its fields are the inputs of the API."""
    names = {convert_camel_case_to_snake(field.input_name): field for field in own.sdl.fields}
    fields = {name: build_form_field(own, field) for name, field in names.items()}
    meta = type("Meta", (), {"model": own.model, "fields": []})
    kind: Any = type(OwnForm)
    form: type[OwnForm] = kind(f"{own.sdl.name}Form", (OwnForm,), {**fields, "own": own, "Meta": meta})
    return form
