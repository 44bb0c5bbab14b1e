"""The rules for the rows of own types, as the SDL states them: `@type(read: member, write: author, publication: true)`.

With a publication, rows without `published_at` are like drafts: visible to their author and to editors.
"""

from functools import partial

from django.db.models import Exists, OuterRef, Q

from contentapi.core.identity import ROLE_SCOPES, Actor, Scope
from contentapi.core.policy import EVERYTHING, NEVER, NOTHING, build_events_in_reach, get_reach
from contentapi.types.models import OwnModel

PUBLISHED = Q(published_at__isnull=False)
PUBLISHED_EVENTS = Q(now="published") | Q(was="published")


def may_read(own: OwnModel, actor: Actor) -> bool:
    """Whether the actor may read rows of the type; `visible_rows` limits which."""
    return own.sdl.read == "public" or actor.has(own.read_scope)


def visible_rows(own: OwnModel, actor: Actor) -> Q:
    """The rows that the actor may see. Without the permission to read the type none."""
    if not may_read(own, actor):
        return NEVER
    visible = build_published_condition(own, actor)
    for field in own.guarded:
        target = own.types[field.type_name]
        named = target.projection.model._base_manager.filter(pk=OuterRef(field.input_column))
        visible &= Q(Exists(target.related(named, actor)))
    return visible if own.rows is None else visible & own.rows(actor)


def build_published_condition(own: OwnModel, actor: Actor) -> Q:
    hidden = get_reach(actor, own.read_scope).build_condition(partial(build_own_condition, own))
    if not own.sdl.has_publication or hidden == EVERYTHING:
        return EVERYTHING
    return PUBLISHED if hidden == NOTHING else PUBLISHED | hidden


def build_own_condition(own: OwnModel, user_id: int) -> Q:
    return Q(author=own.owners.select_id(user_id)) if own.has_author else NOTHING


def may_write(own: OwnModel, actor: Actor) -> bool:
    """Whether the actor may write rows, perhaps only their own. `may_write_of` decides about one user."""
    return actor.has(own.write_scope)


def may_write_of(own: OwnModel, actor: Actor, owner_id: int | None) -> bool:
    """Whether the actor may create, change and delete rows whose author has this user."""
    return may_use_of(own, actor, own.write_scope, owner_id)


def may_use_of(own: OwnModel, actor: Actor, scope: Scope, owner_id: int | None) -> bool:
    """Whether an actor whose role may write has a scope for rows of this user.

    A rule of the team decides about whose rows.
    """
    if actor.role is None or own.write_scope not in ROLE_SCOPES[actor.role]:
        return False
    if own.may_write is None:
        return get_reach(actor, scope).includes(owner_id)
    return actor.has(scope) and own.may_write(actor, owner_id)


def describe_lacking(actor: Actor, scope: Scope) -> str:
    """Return what a refusal adds if the role could use the scope, but the credential lacks it."""
    is_lacking = actor.role is not None and scope in ROLE_SCOPES[actor.role] - actor.scopes
    return f" without the scope {scope}" if is_lacking else ""


def may_write_all(own: OwnModel, actor: Actor) -> bool:
    """Whether the actor may write the rows of all authors, and name an author."""
    return get_reach(actor, own.write_scope).of_everybody


def visible_events(own: OwnModel, actor: Actor) -> Q:
    """The events that are not public and that the actor may see: those of rows that the actor could see."""
    if not may_read(own, actor):
        return NOTHING
    if not own.sdl.has_publication:
        return EVERYTHING
    find_owner = own.owners.select_id if own.has_author else lambda _: 0  # which no row has
    hidden = build_events_in_reach(actor, own.read_scope, find_owner)
    if own.sdl.read == "public" or hidden == EVERYTHING:
        return hidden
    return PUBLISHED_EVENTS if hidden == NOTHING else PUBLISHED_EVENTS | hidden


def limit_events(own: OwnModel, actor: Actor) -> Q:
    """The events of rows that the actor may see now: of a type whose rows a rule of the team limits."""
    rows = own.model._base_manager.filter(visible_rows(own, actor), pk=OuterRef("subject_id"))
    return Q(Exists(rows))
