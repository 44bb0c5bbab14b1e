"""Which scopes an actor has."""

from dataclasses import replace

import pytest

from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope


def test_scope_needs_both_the_role_and_the_credential() -> None:
    author = Actor(user_id=1, role=Role.AUTHOR, scopes=frozenset({Scope.POSTS_READ}))
    reader = Actor(user_id=1, role=Role.READER, scopes=ALL_SCOPES)

    assert (author.has(Scope.POSTS_READ), author.has(Scope.POSTS_WRITE)) == (True, False)
    assert (reader.has(Scope.ORDERS_READ), reader.has(Scope.POSTS_READ)) == (True, False)


@pytest.mark.parametrize("scope", Scope)
def test_anonymous_caller_has_no_scope_and_the_operator_has_all(scope: Scope) -> None:
    assert (ANONYMOUS.has(scope), OPERATOR.has(scope)) == (False, True)
    assert ANONYMOUS.is_anonymous
    assert not OPERATOR.is_anonymous


@pytest.mark.parametrize(
    ("actor", "origin"),
    [
        (ANONYMOUS, ""),
        (OPERATOR, "command line"),
        (OPERATOR.through("worker"), "worker"),
        (Actor(7, credential="session", interface="admin"), "admin"),
        (Actor(7, credential="api-key", credential_id="key:capi_1234abcd"), "API key capi_1234abcd"),
        (
            Actor(7, credential="api-key", credential_id="key:capi_1234abcd").through("REST"),
            "REST, API key capi_1234abcd",
        ),
        (Actor(7, credential="jwt", credential_id="user:7").through("GraphQL"), "GraphQL, token"),
        (Actor(7, credential="jwt", client_id="app").through("GraphQL"), "GraphQL, token of app"),
    ],
)
def test_origin_names_the_interface_and_the_credential(actor: Actor, origin: str) -> None:
    assert actor.origin == origin


def test_actor_through_another_interface_is_otherwise_equal() -> None:
    actor = Actor(7, Role.EDITOR, ALL_SCOPES, "jwt", "user:7", "app")

    assert actor.through("REST") == replace(actor, interface="REST")


def test_every_scope_has_a_meaning_for_the_consent_page() -> None:
    default_labels = {scope.name.replace("_", " ").title() for scope in Scope}

    assert not default_labels & set(Scope.labels)
