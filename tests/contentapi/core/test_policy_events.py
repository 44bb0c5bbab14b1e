"""The rules for events, as conditions and their SQL: no test here uses the database."""

import pytest
from django.db.models import Q

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from contentapi.core.policy import PUBLIC_EVENTS
from contentapi.events.models import Event
from tests.contentapi.core import all_policies as policy
from tests.contract.own_types import OWN_KINDS

READER, AUTHOR, EDITOR, ADMIN = (
    Actor(user_id=7, role=role, scopes=ALL_SCOPES) for role in (Role.READER, Role.AUTHOR, Role.EDITOR, Role.ADMIN)
)
OWN_AUTHOR = '(SELECT U0."id" AS "pk" FROM "blog_author" U0 WHERE U0."user_id" = 7)'
OF_AUTHOR, OF_USER = f'{OWN_AUTHOR} = ANY("events_event"."owner_ids")', '7 = ANY("events_event"."owner_ids")'
NEEDED = {
    "post": {Scope.POSTS_READ},
    "comment": {Scope.COMMENTS_MODERATE},
    "author": {Scope.AUTHORS_READ},
    "image": {Scope.IMAGES_WRITE, Scope.POSTS_WRITE},  # one of them
    "order": {Scope.ORDERS_READ},
    "user": {Scope.USERS_READ},
}


def list_kinds(actor: Actor) -> dict[str, str]:
    """Return the condition on the owners of each kind of events; an empty one for all events of the kind."""
    sql = str(Event.objects.filter(policy.visible_events(actor)).values("pk").query).partition(" WHERE ")[2]
    public, *others = sql.removeprefix("(").removesuffix(")").split(" OR ")
    assert public == '"events_event"."is_public"'
    found = {}
    for other in others:
        condition, _, owner = other.removeprefix("(").partition(" AND ")
        kind = condition.rpartition("LIKE ")[2]
        if not kind.startswith(OWN_KINDS):
            found[kind.partition(".")[0]] = owner.removesuffix(")") if owner else ""
    return found


def with_scopes(actor: Actor, *scopes: Scope) -> Actor:
    return Actor(user_id=actor.user_id, role=actor.role, scopes=frozenset(scopes))


@pytest.mark.parametrize(
    "actor", [ANONYMOUS, *(with_scopes(each, *ALL_SCOPES - {Scope.EVENTS_READ}) for each in (READER, ADMIN))]
)
def test_events_of_public_objects_need_no_scope(actor: Actor) -> None:
    assert policy.visible_events(actor) == PUBLIC_EVENTS


@pytest.mark.parametrize(
    ("actor", "kinds"),
    [
        (READER, {"author": OF_USER, "order": OF_USER, "user": OF_USER}),
        (
            AUTHOR,
            {
                "post": OF_AUTHOR,
                "comment": OF_AUTHOR,
                "author": OF_USER,
                "order": OF_USER,
                "user": OF_USER,
                "image": "",
            },
        ),
        (EDITOR, {"post": "", "comment": "", "author": "", "order": OF_USER, "user": OF_USER, "image": ""}),
        (ADMIN, dict.fromkeys(["post", "comment", "author", "order", "user", "image"], "")),
        (OPERATOR, dict.fromkeys(["post", "comment", "author", "order", "user", "image"], "")),
    ],
    ids=["reader", "author", "editor", "admin", "operator"],
)
def test_role_decides_whose_events_are_visible(actor: Actor, kinds: dict[str, str]) -> None:
    assert list_kinds(actor) == kinds


@pytest.mark.parametrize("kind", NEEDED)
def test_each_kind_needs_the_scope_of_its_objects(kind: str) -> None:
    for scope in NEEDED[kind]:
        assert set(list_kinds(with_scopes(ADMIN, Scope.EVENTS_READ, scope))) >= {kind}
    assert kind not in list_kinds(with_scopes(ADMIN, *ALL_SCOPES - NEEDED[kind]))


def test_actors_of_events_are_visible_to_themselves_and_to_admins() -> None:
    own = Q(actor_id=7)
    visible = policy.visible_event_actors

    assert [visible(actor) for actor in (READER, AUTHOR, EDITOR, ADMIN)] == [own, own, own, policy.EVERYTHING]
    assert visible(ANONYMOUS) == visible(with_scopes(ADMIN, Scope.EVENTS_READ)) == policy.NOTHING
