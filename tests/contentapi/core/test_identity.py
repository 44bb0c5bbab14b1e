"""Which scopes an actor has."""

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


def test_every_scope_has_a_meaning_for_the_consent_page() -> None:
    default_labels = {scope.name.replace("_", " ").title() for scope in Scope}

    assert not default_labels & set(Scope.labels)
