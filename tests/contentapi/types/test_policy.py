"""The rules for rows of own types, by the arguments of `@type`: which roles may read and write, and which rows."""

from typing import Any

from django.db.models import Q

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, Actor, Role, Scope
from contentapi.core.policy import EVERYTHING, NEVER, NOTHING
from contentapi.types import policy
from contentapi.types.models import OwnModel

OWN_ROWS = Q(author=7)
PUBLISHED = policy.PUBLISHED


class Sdl:
    """What the rules read of a type in the SDL."""

    def __init__(self, read: str, *, has_publication: bool) -> None:
        self.read, self.has_publication = read, has_publication


def make_own_model(read: str, *, has_publication: bool = True, read_scope: Scope = Scope.POSTS_READ) -> OwnModel:
    """Return a type that authors write, with scopes of posts in the place of its own."""
    own: Any = OwnModel(Any)  # type: ignore[arg-type]  # no rule reads the model
    own.sdl = Sdl(read, has_publication=has_publication)
    own.read_scope, own.write_scope, own.has_author = read_scope, Scope.POSTS_WRITE, True
    own.guarded = ()
    own.owners = type("Owners", (), {"select_id": staticmethod(lambda user_id: user_id)})
    return own  # type: ignore[no-any-return]


def may_publish_of(own: OwnModel, actor: Actor, owner_id: int | None) -> bool:
    return policy.may_use_of(own, actor, Scope.POSTS_PUBLISH, owner_id)


def make_actor(role: Role | None) -> Actor:
    return Actor(7, role, ALL_SCOPES) if role else ANONYMOUS


def test_unpublished_rows_are_visible_to_their_author_and_to_editors() -> None:
    for read, role, rows in [
        ("public", None, PUBLISHED),
        ("public", Role.READER, PUBLISHED),
        ("public", Role.AUTHOR, PUBLISHED | OWN_ROWS),
        ("public", Role.EDITOR, EVERYTHING),
        ("member", None, NEVER),
        ("member", Role.AUTHOR, PUBLISHED | OWN_ROWS),
        ("member", Role.ADMIN, EVERYTHING),
    ]:
        assert policy.visible_rows(make_own_model(read), make_actor(role)) == rows


def test_without_a_publication_readers_see_all_rows() -> None:
    for read, role, rows in [("public", None, EVERYTHING), ("member", None, NEVER)]:
        assert policy.visible_rows(make_own_model(read, has_publication=False), make_actor(role)) == rows


def test_members_see_the_rows_for_which_they_have_the_scope() -> None:
    own = make_own_model("member", has_publication=False, read_scope=Scope.ORDERS_READ)

    seen = [policy.may_read(own, Actor(7, Role.READER, scopes)) for scopes in (ALL_SCOPES, {Scope.POSTS_READ})]

    assert seen == [True, False]


def test_authors_write_and_publish_their_own_rows_and_editors_all() -> None:
    for role, owners in [(None, set()), (Role.READER, set()), (Role.AUTHOR, {7}), (Role.EDITOR, {7, 8, None})]:
        model, actor = make_own_model("public"), make_actor(role)

        for rule in (policy.may_write_of, may_publish_of):
            assert {owner for owner in (7, 8, None) if rule(model, actor, owner)} == owners


def test_rules_of_the_team_narrow_what_the_scopes_and_the_publication_allow() -> None:
    own = make_own_model("member")
    own.rows, own.may_write = lambda _: OWN_ROWS, lambda *_: True

    assert policy.visible_rows(own, ANONYMOUS) == NEVER
    assert policy.visible_rows(own, make_actor(Role.READER)) == NEVER
    assert policy.visible_rows(own, make_actor(Role.AUTHOR)) == (PUBLISHED | OWN_ROWS) & OWN_ROWS
    for rule in (policy.may_write_of, may_publish_of):
        assert [rule(own, actor, 8) for actor in (ANONYMOUS, make_actor(Role.AUTHOR))] == [False, True]
    own.may_write = lambda *_: False
    for rule in (policy.may_write_of, may_publish_of):
        assert not rule(own, make_actor(Role.ADMIN), 8)


def test_events_of_rows_that_are_not_public_have_their_secrecy() -> None:
    for read, role, events in [
        ("public", Role.READER, NOTHING),
        ("public", Role.EDITOR, EVERYTHING),
        ("member", Role.EDITOR, EVERYTHING),
        ("member", None, NOTHING),
    ]:
        assert policy.visible_events(make_own_model(read), make_actor(role)) == events
