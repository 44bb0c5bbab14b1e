"""The rules for webhooks: no test here uses the database."""

import pytest

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from contentapi.core.policy import EVERYTHING, NEVER
from tests.contentapi.core import all_policies as policy


def make_actor(role: Role, *scopes: Scope) -> Actor:
    return Actor(user_id=7, role=role, scopes=frozenset(scopes), credential="api-key")


def test_admins_with_the_scope_manage_webhooks() -> None:
    admin = make_actor(Role.ADMIN, Scope.WEBHOOKS_MANAGE)

    assert policy.may_manage_webhooks(admin)
    assert policy.visible_webhooks(admin) == EVERYTHING


@pytest.mark.parametrize(
    "actor",
    [
        ANONYMOUS,
        make_actor(Role.ADMIN, *ALL_SCOPES - {Scope.WEBHOOKS_MANAGE}),
        *(make_actor(role, *ALL_SCOPES) for role in Role if role is not Role.ADMIN),
    ],
)
def test_nobody_else_manages_or_sees_webhooks(actor: Actor) -> None:
    assert not policy.may_manage_webhooks(actor)
    assert policy.visible_webhooks(actor) == NEVER
    assert not policy.may_name_maker(actor)


def test_operator_alone_names_the_maker() -> None:
    assert policy.may_manage_webhooks(OPERATOR)
    assert policy.may_name_maker(OPERATOR)
    assert not policy.may_name_maker(make_actor(Role.ADMIN, *ALL_SCOPES))
