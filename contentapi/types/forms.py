"""The form of a row of an own type: a field for each field of the SDL, with its limits."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.urls import reverse
from django.utils.module_loading import import_string
from unfold.widgets import (
    UnfoldAdminAutocompleteModelChoiceFieldWidget,
    UnfoldAdminMultipleAutocompleteModelChoiceFieldWidget,
    UnfoldAdminSplitDateTimeWidget,
)

from contentapi.core.errors import VersionConflict
from contentapi.core.identity import ANONYMOUS
from contentapi.core.pagination import parse_id
from contentapi.desk.forms import ServiceForm
from contentapi.types.fields import Kind, OwnField
from contentapi.types.models import OwnModel
from contentapi.types.own_form import ValueField

OPENED = "opened_version"


class RelatedInput(UnfoldAdminAutocompleteModelChoiceFieldWidget):
    """The choice of a row with suggestions from a page of the admin. It shows the name of the present row."""

    def __init__(self, own: OwnModel, field: OwnField) -> None:
        self.own, self.field = own, field
        self.actor = ANONYMOUS  # who opens the form
        super().__init__()

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        options = self.own.model._meta
        address = reverse(f"admin:{options.app_label}_{options.model_name}_choose", args=[self.field.name])
        return {**super().build_attrs(base_attrs, extra_attrs), "data-ajax--url": address}

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        texts = self.find_texts([parse_id(str(text)) for text in value])
        options = [
            self.create_option(name, pk, text, selected=True, index=place) for place, (pk, text) in enumerate(texts)
        ]
        if not self.allow_multiple_selected and not self.is_required:
            options.insert(0, self.create_option(name, "", "", selected=False, index=0))
        return [(None, options, 0)]

    def find_texts(self, ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return the ids with the texts of their rows, or with the name of the type for what the actor may not see."""
        target = self.own.types[self.field.type_name]
        found = target.related(target.projection.model._default_manager.all(), self.actor).in_bulk(ids)
        return [(pk, str(found.get(pk, f"{self.field.type_name} {pk}"))) for pk in ids if pk]


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
            return [parse_id(str(text)) for text in value or () if text]
        return None if value in self.empty_values else parse_id(str(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))


def build_form_field(own: OwnModel, field: OwnField) -> forms.Field:
    """Return the field of a form for a field of the SDL."""
    shared: dict[str, Any] = {"label": field.label, "help_text": field.description, "required": field.is_needed}
    if field.kind == Kind.RELATION:
        return RelatedField(is_list=field.is_list, widget=build_related_input(own, field), **shared)
    if field.kind == Kind.TIME and not field.is_list:
        return forms.SplitDateTimeField(widget=UnfoldAdminSplitDateTimeWidget(), **shared)
    return ValueField(field, required=field.is_needed)


def build_related_input(own: OwnModel, field: OwnField) -> Any:
    if field.is_list:
        return RelatedListInput(own, field)
    key_input = own.types[field.type_name].key_input
    return import_string(key_input)() if key_input else RelatedInput(own, field)


class OwnForm(ServiceForm):
    """The form of a row. `opened_version` is the version that the person has seen."""

    own: ClassVar[OwnModel]
    opened_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        for each in self.fields.values():
            if isinstance(each.widget, RelatedInput):
                each.widget.actor = self.actor
        for field in self.own.sdl.fields:
            name = field.input_column
            if name in self.fields:
                value = getattr(row, name) if row.pk else None
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
        noun = self.own.sdl.noun
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
    names = {field.input_column: field for field in own.sdl.fields}
    fields = {name: build_form_field(own, field) for name, field in names.items()}
    meta = type("Meta", (), {"model": own.model, "fields": []})
    kind: Any = type(OwnForm)
    attributes = {**fields, "own": own, "Meta": meta, "api_fields": {names[name].input_name: name for name in names}}
    form: type[OwnForm] = kind(f"{own.sdl.name}Form", (OwnForm,), attributes)
    return form
