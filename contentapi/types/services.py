"""Writes of the rows of own types. Each finds what the caller may see, checks the permission, validates and writes.

`expected_version` is a version that the caller has read. If the row has another one, the function raises `Conflict`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from contentapi.core.entity_tags import ExpectedVersion, require_version
from contentapi.core.errors import Invalid, require_found
from contentapi.core.identity import Actor, Scope
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_credential, require_permission
from contentapi.events.declarations import refuse_required
from contentapi.events.triggers import attribute_changes
from contentapi.types import policy, selectors
from contentapi.types.fields import AUTHOR
from contentapi.types.models import OwnModel, get_own_model
from contentapi.types.validation import NULL, clean_values, refuse_unknown

PUBLISHED_AT = "published_at"


def get_create(own: OwnModel) -> Callable[..., Any]:
    """Return what creates a row: the function of the team, in a transaction, or `create_row`."""
    return transaction.atomic(own.create) if own.create else partial(create_row, own.model)


def get_update(own: OwnModel) -> Callable[..., Any]:
    """Return what changes a row: the function of the team, in a transaction, or `update_row`."""
    return transaction.atomic(own.update) if own.update else partial(update_row, own.model)


@transaction.atomic
def create_row(model: type[Model], /, *, actor: Actor, **values: Any) -> Any:
    """Create a row; without `author_id`, its author is the actor's own profile. Raises `Invalid` and `Malformed`.

    `values` have the names of the input in Python, such as `cover_id`.
    """
    own = get_own_model(model)
    may_write = policy.may_write(own, actor) if own.has_author else policy.may_write_of(own, actor, None)
    require_permission(actor, may_write, f"write {own.sdl.nouns}")
    columns = clean_values(own, actor, values, is_new=True)
    if own.has_author:
        columns["author_id"] = find_author(own, actor, values.get("author_id"))
    with attribute_changes(actor):
        return model._default_manager.create(**columns)


def find_author(own: OwnModel, actor: Actor, author_id: str | None) -> int:
    """Return the id of the author that a caller names: None is their own. Raises `Invalid` and `Forbidden`."""
    found: Any = None
    whose = " of this author" if author_id else ""
    if author_id is not None:
        authors = own.types[AUTHOR.capitalize()].projection.model._default_manager
        found = authors.only("user_id").filter(pk=parse_id(author_id)).first()
        if not found:
            refuse_unknown(own, AUTHOR, author_id)
    owner_id = found.user_id if found else actor.user_id
    allowed = policy.may_write_of(own, actor, owner_id)
    require_permission(actor, allowed, f"write {own.sdl.nouns}{whose}")
    return int(found.pk) if found else own.owners.get_or_create_id(actor)


@transaction.atomic
def update_row(
    model: type[Model],
    *,
    actor: Actor,
    row_id: str,
    changes: Mapping[str, Any],
    expected_version: ExpectedVersion = None,
) -> Any:
    """Change fields of a row, or `published_at` alone. If nothing changes, the version stays.

    Raises `NotFound`, `Invalid` and `Conflict`.
    """
    own = get_own_model(model)
    if changes.keys() == {PUBLISHED_AT}:
        return change_publication(own, actor, row_id, expected_version, changes[PUBLISHED_AT])
    row = get_row_for_update(own, actor, row_id, "change", own.write_scope, expected_version)
    columns = clean_values(own, actor, changes, present=row)
    if "author_id" in changes:
        if changes["author_id"] is None:
            raise Invalid({"authorId": [NULL]})
        columns["author_id"] = find_author(own, actor, changes["author_id"])
    return save_row(actor, row, columns)


def get_row_for_update(
    own: OwnModel, actor: Actor, row_id: str, action: str, scope: Scope, expected_version: ExpectedVersion
) -> Any:
    """Return a row that the actor may see and for which they may use the scope, in the expected version.

    It is locked until the transaction ends. A refusal names the scope if only the credential lacks it.
    """
    require_credential(actor, f"{action} {own.sdl.nouns}")
    rows = selectors.select_row_by_id(own, actor, row_id).queryset()
    if own.has_author:
        rows = rows.select_related(AUTHOR)
    row: Any = require_found(rows.select_for_update(of=("self",)).first(), own.sdl.noun)
    may, lacking = policy.may_use_of(own, actor, scope, own.get_owner_id(row)), policy.describe_lacking(actor, scope)
    require_permission(actor, may, f"{action} this {own.sdl.noun}{lacking}")
    require_version(own.sdl.noun, row.version, expected_version)
    return row


def save_row(actor: Actor, row: Any, columns: Mapping[str, Any]) -> Any:
    """Save the values that differ from the present ones, with a new version and time."""
    changed = {name: value for name, value in columns.items() if getattr(row, name) != value}
    if not changed:
        return row
    changed |= {"version": row.version + 1, "updated_at": timezone.now()}
    for name, value in changed.items():
        setattr(row, name, value)
    with attribute_changes(actor):
        row.save(update_fields=[*changed])
    return row


def publish_row(model: type[Model], **options: Any) -> Any:
    """Publish a row, as `update_row` does with the time in `published_at`. One that is published stays as it is."""
    return get_update(get_own_model(model))(changes={PUBLISHED_AT: timezone.now()}, **options)


def unpublish_row(model: type[Model], **options: Any) -> Any:
    """Take a row back from the public, as `update_row` does with the null in `published_at`."""
    return get_update(get_own_model(model))(changes={PUBLISHED_AT: None}, **options)


def change_publication(
    own: OwnModel, actor: Actor, row_id: str, expected_version: ExpectedVersion, published_at: datetime | None
) -> Any:
    action = "unpublish" if published_at is None else "publish"
    row = get_row_for_update(own, actor, row_id, action, Scope.POSTS_PUBLISH, expected_version)
    if (row.published_at is None) != (published_at is None):
        save_row(actor, row, {PUBLISHED_AT: published_at})
        record(own, f"{action}ed", actor, row.pk)
    return row


@transaction.atomic
def delete_row(model: type[Model], *, actor: Actor, row_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a row, and return its id. Raises `NotFound`, and `Conflict` for one that other rows require."""
    own = get_own_model(model)
    row = get_row_for_update(own, actor, row_id, "delete", own.write_scope, expected_version)
    pk = row.pk
    with attribute_changes(actor), refuse_required(actor, own.sdl.name, pk):
        row.delete()
    record(own, "deleted", actor, pk)
    return str(pk)


def record(own: OwnModel, action: str, actor: Actor, pk: int) -> None:
    """Write a line of the audit log: `recipe.published`."""
    kind = own.sdl.name.lower()
    own.audit(f"{kind}.{action}").record(actor, kind, pk)
