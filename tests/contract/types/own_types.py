"""The own types of a team. Their rows follow from `read`, `write` and `publication` of the declaration."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from django.db.models import Model
from django.urls import reverse

from blog.models import Author
from contentapi.core.identity import OPERATOR
from contentapi.types import selectors, services
from contentapi.types.fields import TRAITS, Kind, OwnField
from contentapi.types.models import OwnModel, list_own_models
from tests import factories
from tests.contract.admin_browser import confirm_deletion, open_list, open_page, press_button, send_form
from tests.contract.input_documents import input_document, object_document
from tests.contract.permissions import (
    ADMINS,
    ANONYMOUS_CALLER,
    AUTHORS,
    EDITORS,
    EVERYBODY,
    OTHERS,
    OWN,
    PUBLISH,
    USERS,
    Outcome,
    Row,
    allow,
)
from tests.contract.worlds import World, contains_row
from users.models import User

OWN_TYPES = list_own_models()
VISIBLE, HIDDEN = "", "unpublished "
STAFF_READS = allow(EDITORS, anonymous=401, reader=403, author=403)
# Who reads what is published, or of a type without a publication: by `read`
READS = {"public": allow(EVERYBODY), "member": allow(USERS, anonymous=401), "staff": STAFF_READS}
# Who reads what is not published: by `read` and owner
HIDDEN_READS = {
    ("public", OWN): allow(AUTHORS, anonymous=404, reader=404),
    ("public", OTHERS): allow(EDITORS, anonymous=404, reader=404, author=404),
    ("member", OWN): allow(USERS, anonymous=401),
    ("member", OTHERS): allow(EDITORS, anonymous=401, reader=404, author=404),
    ("staff", OWN): STAFF_READS,
    ("staff", OTHERS): STAFF_READS,
}
# Who writes what they may read: by `write`
WRITERS: dict[str, dict[str, tuple[str, ...]]] = {
    "author": {OWN: AUTHORS, OTHERS: EDITORS},
    "editor": {OWN: EDITORS, OTHERS: EDITORS},
    "admin": {OWN: ADMINS, OTHERS: ADMINS},
}


def list_owners(own: OwnModel) -> list[str]:
    return [OWN, OTHERS] if own.has_author else [OTHERS]


def list_states(own: OwnModel) -> list[str]:
    return [VISIBLE, HIDDEN] if own.sdl.has_publication else [VISIBLE]


def list_reads(own: OwnModel, state: str) -> Iterator[Row]:
    read, lacking = own.sdl.read, "404" if own.sdl.read == "public" else "403"
    scopes = {own.read_scope: lacking} if state or lacking == "403" else {}
    for whose in list_owners(own):
        outcomes = HIDDEN_READS[read, whose] if state else READS[read]
        yield Row(f"read {state}{own.sdl.noun}", whose, outcomes, scopes)
        yield Row(f"list {state}{own.sdl.nouns}", whose, outcomes, scopes)


def list_writes(own: OwnModel) -> Iterator[Row]:
    """Yield the rows of writes. Who may not read an object is refused as for a read; without a credential by 401."""
    noun, needed = own.sdl.noun, {own.write_scope: "403"}
    for whose in list_owners(own):
        writers = WRITERS[own.sdl.write][whose]
        yield Row(f"create {noun}", whose, decide(READS["public"], writers), needed)
        for state in list_states(own):
            read = next(row for row in list_reads(own, state) if row.whose == whose)
            actions = ["change", "delete"] if find_change(own) else ["delete"]
            for action in actions:
                yield Row(f"{action} {state}{noun}", whose, decide(read.outcomes, writers), read.without | needed)
            if own.sdl.has_publication:
                action = "publish" if state else "unpublish"
                yield Row(f"{action} {state}{noun}", whose, decide(read.outcomes, writers), read.without | PUBLISH)


def decide(reads: Mapping[str, Outcome], writers: tuple[str, ...]) -> dict[str, Outcome]:
    written = {caller: "ok" if caller in writers else "403" for caller in reads}
    refused = {caller: outcome for caller, outcome in reads.items() if outcome != "ok"}
    return written | refused | {ANONYMOUS_CALLER: "401"}


# --- The rows, and the requests ---------------------------------------------------------------------------


def give_examples(field: OwnField) -> list[Any]:
    """Return values that meet the limits of a field."""
    if field.kind == Kind.BOOLEAN:
        return [True, False]
    limits = [limit for limit in (field.minimum, field.maximum) if limit is not None]
    return [*field.values, *limits] or [TRAITS[field.kind].example, *(["other"] if field.kind == Kind.TEXT else [])]


def find_change(own: OwnModel) -> dict[str, Any]:
    """Return another value of a field, by its name in the API, if a field has one."""
    fields = [each for each in own.sdl.fields if each.is_needed and each.kind != Kind.RELATION]
    return next(({each.name: found[-1]} for each in fields if len(found := give_examples(each)) > 1), {})


def build_values(own: OwnModel) -> dict[str, Any]:
    """Return what a new row needs, by the names of the API."""
    needed = [field for field in own.sdl.fields if field.is_needed]
    return {field.input_name: build_value(own, field) for field in needed}


def build_value(own: OwnModel, field: OwnField) -> Any:
    if field.kind != Kind.RELATION:
        return give_examples(field)[0]
    model: Any = own.types[field.type_name].projection.model
    others = {each.model: partial(make_row, each, VISIBLE, None) for each in OWN_TYPES}
    return str((others.get(model) or getattr(factories, f"make_{field.type_name.lower()}"))().pk)


def make_row(own: OwnModel, state: str, user: User | None) -> Model:
    author = Author.objects.filter(user=user).first() or factories.make_author()
    named = {"author_id": str(author.pk)} if own.has_author else {}
    columns = {field.input_name: field.input_column for field in own.sdl.fields}
    values = {columns[name]: value for name, value in build_values(own).items()}
    row: Model = services.create_row(own.model, actor=OPERATOR, **values, **named)
    if own.sdl.has_publication and state == VISIBLE:
        services.publish_row(own.model, actor=OPERATOR, row_id=str(row.pk))
    return row


ROWS = {f"{state}{own.sdl.noun}": partial(make_row, own, state) for own in OWN_TYPES for state in list_states(own)}
TABLE: dict[str, list[Row]] = {
    **{f"read an own type with `read: {read}`": [] for read in READS},
    **{f"read what is not published of an own type with `read: {read}`": [] for read in READS},
    **{f"write an own type with `write: {write}`": [] for write in WRITERS},
}
SERVICES: dict[str, Callable[[World], object]] = {}
GRAPHQL: dict[str, Callable[[World], tuple[str, dict[str, Any], str | None]]] = {}
REST: dict[str, Callable[[World], tuple[str, str, Any, Any]]] = {}
ADMIN: dict[str, Callable[[World], Outcome]] = {}
NARROWER: dict[tuple[str, str], tuple[tuple[str, ...], Outcome, str]] = {}


def add_reads(own: OwnModel, state: str) -> None:
    sdl, name, page = own.sdl, f"{state}{own.sdl.noun}", get_page(own)
    listed = f"list {state}{sdl.nouns}"
    query = f"{{ {sdl.plural}(first: 100) {{ edges {{ node {{ id }} }} }} }}"
    SERVICES[f"read {name}"] = lambda world: selectors.select_row_by_id(
        own, world.actor, str(world.find_id(name))
    ).exists()
    SERVICES[listed] = lambda world: contains_row(
        selectors.select_rows(own, world.actor).queryset(), world.target.find(name)
    )
    GRAPHQL[f"read {name}"] = lambda world: object_document(sdl.singular, world.find_id(name))
    GRAPHQL[listed] = lambda world: (query, {}, str(world.find_id(name)))
    REST[f"read {name}"] = lambda world: ("GET", f"/{sdl.path}/{world.find_id(name)}", None, None)
    REST[listed] = lambda world: ("GET", f"/{sdl.path}?limit=100", None, str(world.find_id(name)))
    ADMIN[f"read {name}"] = lambda world: open_page(world, page, world.find_id(name))
    ADMIN[listed] = lambda world: open_list(world, page, world.target.find(name).pk)


def add_write(
    own: OwnModel, verb: str, name: str, give: Callable[[World], dict[str, Any]], service: Callable[..., Any]
) -> None:
    """Add a write whose values, by the names of the API, are `give(world)`; without `name` that of a new row."""
    sdl, page, action = own.sdl, get_page(own), f"{verb} {name or own.sdl.noun}"
    columns = {field.input_name: field.input_column for field in sdl.fields}
    mutation = f"{'update' if verb == 'change' else verb}{sdl.name}"
    shown = f"deleted{sdl.name}Id" if verb == "delete" else f"{sdl.singular} {{ id }}"
    method = {"change": "PATCH", "delete": "DELETE"}.get(verb, "POST")
    below = f"/{verb}" if "publish" in verb else ""

    def identify(world: World) -> dict[str, str]:
        return {"id": str(world.find_id(name))} if name else {}

    def call(world: World) -> object:
        values = {columns[key]: value for key, value in give(world).items()}
        given = {"row_id": identify(world)["id"]} if name else values
        return service(actor=world.actor, **given, **({"changes": values} if verb == "change" else {}))

    def browse(world: World) -> Outcome:
        values = {columns[key]: value for key, value in give(world).items()}
        if below:
            return press_button(world, page, world.find_id(name), verb)
        if verb == "delete":
            return confirm_deletion(world, page, world.find_id(name))
        form = reverse(f"admin:{page}_change", args=[world.find_id(name)]) if name else reverse(f"admin:{page}_add")
        return send_form(world, form, **values)

    SERVICES[action], ADMIN[action] = call, browse
    GRAPHQL[action] = lambda world: input_document(mutation, shown, **identify(world), **give(world))
    REST[action] = lambda world: (
        method,
        "/".join([f"/{sdl.path}", *identify(world).values()]) + below,
        give(world) or None,
        None,
    )


def get_page(own: OwnModel) -> str:
    return f"{own.sdl.app}_{own.sdl.name.lower()}"


def give_new(own: OwnModel, world: World) -> dict[str, Any]:
    named = {} if world.is_own or not own.has_author else {"authorId": str(world.target.author.pk)}
    return build_values(own) | named


def give_nothing(_: World) -> dict[str, Any]:
    return {}


def add_type(own: OwnModel) -> None:
    sdl, publication = own.sdl, "publish" if own.sdl.has_publication else ""
    add_write(own, "create", "", partial(give_new, own), services.get_create(own))
    for state in list_states(own):
        name = f"{state}{sdl.noun}"
        add_reads(own, state)
        add_write(own, "delete", name, give_nothing, partial(services.delete_row, own.model))
        if find_change(own):
            add_write(own, "change", name, lambda _: find_change(own), services.get_update(own))
        if publication:
            verb, service = ("publish", services.publish_row) if state else ("unpublish", services.unpublish_row)
            add_write(own, verb, name, give_nothing, partial(service, own.model))
        what = "read what is not published of" if state else "read"
        TABLE[f"{what} an own type with `read: {sdl.read}`"] += list_reads(own, state)
    TABLE[f"write an own type with `write: {sdl.write}`"] += (rows := [*list_writes(own)])
    add_narrower(own, [*rows, *(row for state in list_states(own) for row in list_reads(own, state))])


def add_narrower(own: OwnModel, rows: list[Row]) -> None:
    """Add what the desk allows less: the list of a type is for those who may write, with what they may change."""
    others = [caller for caller in ("author", "editor") if caller not in WRITERS[own.sdl.write][OWN]]
    for row in rows:
        key, listed = (row.action, row.whose), row.action.startswith("list ")
        if listed and others:
            callers = tuple(caller for caller in others if row.outcomes[caller] != "403")
            NARROWER[key] = callers, "403", "The list is for those who may write."
        elif row.whose == OTHERS and row.action == f"list {own.sdl.nouns}":
            NARROWER[key] = ("author",), "404", "The list has what the user writes."
        elif row.whose == OTHERS and row.action == f"create {own.sdl.noun}" and not others:
            NARROWER[key] = ("author",), "ok", "The form of an author has no field for the author."


for each in OWN_TYPES:
    add_type(each)
