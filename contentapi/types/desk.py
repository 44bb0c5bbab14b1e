"""The pages of own types in the desk. `register_admins` makes an admin for each."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET
from unfold.contrib.filters.admin import BooleanRadioFilter, ChoicesDropdownFilter

from contentapi.auth.sessions import get_actor
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor, Scope
from contentapi.desk.actions import Action, perform_each
from contentapi.desk.bases import Page, PolicyAdmin
from contentapi.desk.lists import RelatedFilter, build_state_filter, read_page_number
from contentapi.desk.rendering import build_time_column
from contentapi.types import policy, selectors, services
from contentapi.types.fields import AUTHOR, TAG, Kind
from contentapi.types.forms import OPENED, OwnForm, build_form
from contentapi.types.models import OwnModel, list_own_models
from contentapi.types.validation import select_nameable

CHOICES = 20  # of one page of suggestions
STATES = [("published", "Published"), ("draft", "Not published")]
FILTERS = {Kind.ENUM: ChoicesDropdownFilter, Kind.BOOLEAN: BooleanRadioFilter, Kind.RELATION: RelatedFilter}


@require_GET
def suggest_rows(request: HttpRequest, model_admin: Any, name: str) -> HttpResponse:
    """Return the rows that a field can name and that have a text, page by page. Raises `NotFound`."""
    own: OwnModel = model_admin.own
    actor = get_actor(request)
    field = own.sdl.find_field(name)
    offered = model_admin.get_fields(request) if model_admin.may_open(actor) else ()
    if field is None or field.kind != Kind.RELATION or field.input_column not in offered:
        raise NotFound("There is no such field.")
    target = own.types[field.type_name]
    term = request.GET.get("term", "")
    rows = target.projection.model._default_manager.order_by("-pk")
    rows = select_nameable(target, rows, actor)
    searching = admin.site.get_model_admin(rows.model)
    found, _ = searching.get_search_results(request, rows, term)
    return show_suggestions(found, read_page_number(request))


def show_suggestions(rows: models.QuerySet[Any], page: int) -> HttpResponse:
    shown = [*rows[(page - 1) * CHOICES : page * CHOICES + 1]]
    results = [{"id": str(row.pk), "text": str(row)} for row in shown[:CHOICES]]
    return JsonResponse({"results": results, "pagination": {"more": len(shown) > CHOICES}})


class OwnAdmin(PolicyAdmin):
    """The rows of an own type."""

    own: ClassVar[OwnModel]
    pages = [Page("choose/<str:name>/", "choose", suggest_rows)]
    show_published_at = build_time_column("published_at", "Published at", ordering="publication_order")
    show_updated_at = build_time_column("updated_at", "Updated at", ordering="updated_at")
    ordering = ["-created_at", "-id"]

    def may_open(self, actor: Actor) -> bool:
        return policy.may_write(self.own, actor)

    may_add = may_open

    def may_see(self, actor: Actor, row: Any) -> bool:
        return self.own.model._default_manager.filter(policy.visible_rows(self.own, actor), pk=row.pk).exists()

    def may_change(self, actor: Actor, row: Any) -> bool:
        return policy.may_write_of(self.own, actor, self.own.get_owner_id(row)) if row else self.may_open(actor)

    may_delete = may_change

    def select_rows(self, actor: Actor) -> models.QuerySet[Any]:
        """Return the rows that the actor may write; the page of another visible row is read-only."""
        rows = self.own.model._default_manager.filter(policy.visible_rows(self.own, actor))
        if self.own.may_write is None and not policy.may_write_all(self.own, actor):
            rows = rows.filter(policy.build_own_condition(self.own, actor.user_id or 0))
        return rows.select_related(AUTHOR) if self.own.has_author else rows

    def find_row(self, actor: Actor, row_id: str) -> models.Model | None:
        return selectors.select_row_by_id(self.own, actor, row_id).queryset().first()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return the names of the form's fields, with `author_id` if the user may write rows of other authors."""
        names = [field.input_column for field in self.own.sdl.fields]
        hidden = set() if policy.may_write_all(self.own, get_actor(request)) else {"author_id"}
        return [*(name for name in names if name not in hidden), OPENED]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change=change, **options)
        offered = self.get_fields(request, obj)
        form.base_fields = {name: field for name, field in form.base_fields.items() if name in offered}
        return form

    def create(self, actor: Actor, row: Any, form: OwnForm) -> Any:
        create = services.get_create(self.own)
        values = {name: value for name, value in form.list_changes().items() if value is not None}
        return create(actor=actor, **values)

    def edit(self, actor: Actor, row: Any, form: OwnForm) -> None:
        update = services.get_update(self.own)
        opened = form.cleaned_data[OPENED]
        expected = None if opened is None else str(opened)
        update(actor=actor, row_id=str(row.pk), changes=form.list_changes(), expected_version=expected)

    def delete(self, actor: Actor, row: Any) -> None:
        services.delete_row(self.own.model, actor=actor, row_id=str(row.pk))


def build_publication_actions(own: OwnModel) -> list[Action]:
    def may_publish(actor: Actor, row: Any) -> bool:
        return policy.may_use_of(own, actor, Scope.POSTS_PUBLISH, own.get_owner_id(row))

    readers = "everybody" if own.sdl.read == "public" else "everybody with read access"
    states = {
        "publish": (services.publish_row, f"Makes it visible to {readers}."),
        "unpublish": (services.unpublish_row, "Only its author and editors see it."),
    }
    return [
        Action(
            name=name,
            label=name.capitalize(),
            done=f"{name.capitalize()}ed",
            help=text,
            perform=perform_each(partial(service, own.model), "row_id"),
            is_permitted=may_publish,
            is_offered=partial(is_offered, name),
            confirmed_from=1 if name == "unpublish" else Action.confirmed_from,
            is_dangerous=name == "unpublish",
        )
        for name, (service, text) in states.items()
    ]


def is_offered(name: str, row: Any) -> bool:
    return (row.published_at is None) is (name == "publish")


def select_by_publication(rows: models.QuerySet[Any], chosen: str) -> models.QuerySet[Any]:
    return rows.filter(published_at__isnull=chosen == "draft") if chosen else rows


def build_admin(own: OwnModel) -> type[PolicyAdmin]:
    """Return the class of a type's admin: the list with its search, filters and orders, and the form."""
    sdl = own.sdl
    texts = [field for field in sdl.fields if field.kind == Kind.TEXT and not field.is_list]
    filtered = [
        field
        for name, field in sdl.filters.items()
        if name != TAG and (field.kind != Kind.RELATION or is_searched(own.types[field.type_name].projection.model))
    ]
    publication = [build_state_filter("publication", "publication", STATES, select_by_publication)]
    columns: Sequence[str] = ["__str__", *([AUTHOR] if own.has_author else [])]
    lookups = {f"{field.column}{suffix}" for field in filtered for suffix in ("", "__exact", "__id__exact")}
    attributes: dict[str, Any] = {
        "own": own,
        "form": build_form(own),
        "list_display": [*columns, *(["show_published_at"] if sdl.has_publication else []), "show_updated_at"],
        "list_filter": [
            *(publication if sdl.has_publication else []),
            *((f.column, FILTERS[f.kind]) for f in filtered),
        ],
        "list_lookups": frozenset({*lookups, "publication"}),
        "search_fields": [f"{field.column}__folded" for field in texts],
        "list_select_related": [AUTHOR] if own.has_author else [],
        "list_deferred": [field.column for field in texts[1:]],
        "desk_actions": build_publication_actions(own) if sdl.has_publication else [],
    }
    kind: Any = type(OwnAdmin)
    made: type[PolicyAdmin] = kind(f"{sdl.name}Admin", (OwnAdmin,), attributes)
    return own.desk(made) if own.desk else made


def is_searched(model: type[models.Model]) -> bool:
    """Return whether the admin of a model suggests its rows."""
    registered = admin.site.is_registered(model)
    return registered and bool(admin.site.get_model_admin(model).search_fields)


def register_admins() -> None:
    for own in list_own_models():
        admin.site.register(own.model, build_admin(own))
