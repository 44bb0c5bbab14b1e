"""Which scopes an actor has."""

from dataclasses import replace
from pathlib import Path

import pytest

from contentapi.conf.content_apps import find_own_access
from contentapi.core import identity
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


def test_roles_have_the_scopes_of_own_types_that_the_sdl_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declarations = {
        "Dish": 'app: "a", plural: "dishes", write: author',
        "MenuCard": 'app: "b", read: staff, write: admin',
    }
    text = "\n".join(
        f"type {name} implements Node @type({given}) {{ id: ID! }}" for name, given in declarations.items()
    )
    (tmp_path / "own.graphql").write_text(text)
    monkeypatch.setattr(identity, "OWN_TYPES", [*find_own_access(tmp_path)])
    monkeypatch.setattr(identity, "Scope", str)

    found = {role: sorted(identity.list_own_scopes(role)) for role in Role}

    assert found == {
        Role.READER: [],
        Role.AUTHOR: ["dishes:read", "dishes:write"],
        Role.EDITOR: ["dishes:read", "dishes:write", "menu-cards:read"],
        Role.ADMIN: ["dishes:read", "dishes:write", "menu-cards:read", "menu-cards:write"],
    }
    assert identity.build_own_scopes()["MENU_CARDS_READ"] == ("menu-cards:read", "Read menu cards")
