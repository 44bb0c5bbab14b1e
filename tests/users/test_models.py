"""The constraints of users and API keys, and access to the admin site by role."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils import timezone

from contentapi.core.errors import get_constraint_name
from contentapi.core.identity import Role, Scope
from tests.factories import make_user
from users.models import ApiKey, User


def make_key(**values: Any) -> ApiKey:
    now = timezone.now()
    return ApiKey.objects.create(
        **{
            "user": make_user(),
            "name": "test",
            "prefix": "capi_00000001",
            "digest": bytes(32),
            "scopes": [Scope.POSTS_READ],
            "created_at": now,
            "expires_at": now + timedelta(days=1),
            **values,
        }
    )


def make_same_email_twice() -> None:
    make_user(email="ines@example.invalid")
    make_user(email="Ines@Example.invalid")


def make_same_prefix_twice() -> None:
    make_key()
    make_key()


def make_key_that_expires_at_once() -> None:
    now = timezone.now()
    make_key(created_at=now, expires_at=now)


VIOLATIONS: dict[str, Callable[[], object]] = {
    "users_user_email_unique": make_same_email_twice,
    "users_user_role_known": lambda: User.objects.create(email="a@example.invalid", name="A", role="owner"),
    "users_user_name_present": lambda: make_user(name=""),
    "users_apikey_prefix_unique": make_same_prefix_twice,
    "users_apikey_expires_after_creation": make_key_that_expires_at_once,
}


def test_every_constraint_has_a_violation() -> None:
    models = apps.get_app_config("users").get_models()

    names = {constraint.name for model in models for constraint in model._meta.constraints}

    assert names == VIOLATIONS.keys()


@pytest.mark.parametrize(("name", "violate"), VIOLATIONS.items())
def test_violation_raises_an_error_with_the_name_of_the_constraint(name: str, violate: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        violate()

    assert get_constraint_name(raised.value) == name


def test_email_is_found_in_any_case() -> None:
    user = make_user(email="Ines.Ähre@Example.invalid")
    make_user(email="ines@example.invalid")

    found = User.objects.with_email("INES.Ähre@example.INVALID")

    assert list(found) == [user]
    assert User.objects.get_by_natural_key("ines.Ähre@example.invalid") == user


def test_create_superuser_creates_an_admin_with_a_password() -> None:
    user = User.objects.create_superuser(email="root@example.invalid", name="Root", password="a fair password")

    stored = User.objects.get(pk=user.pk)
    assert (stored.role, stored.is_staff, stored.is_superuser) == (Role.ADMIN, True, True)
    assert stored.check_password("a fair password")


@pytest.mark.parametrize(
    ("role", "active", "staff", "superuser"),
    [
        (Role.READER, True, False, False),
        (Role.AUTHOR, True, True, False),
        (Role.EDITOR, True, True, False),
        (Role.ADMIN, True, True, True),
        (Role.EDITOR, False, False, False),
        (Role.ADMIN, False, False, False),
    ],
)
def test_role_determines_access_to_the_admin_site(*, role: Role, active: bool, staff: bool, superuser: bool) -> None:
    user = User(email="a@example.invalid", name="A", role=role, is_active=active)

    assert (user.is_staff, user.is_superuser) == (staff, superuser)
    assert (user.has_perm("blog.change_post"), user.has_module_perms("blog")) == (staff, staff)
    assert (user.has_perm("users.view_user"), user.has_module_perms("users")) == (superuser, superuser)
    assert (user.has_perm("orders.view_order"), user.has_module_perms("orders")) == (superuser, superuser)


def test_names_of_users_and_keys_contain_no_secrets() -> None:
    user = User(email="ines@example.invalid", name="Ines", password="hash")
    key = ApiKey(user=user, prefix="capi_00000001", name="blog", digest=b"digest")

    assert (str(user), str(key)) == ("Ines <ines@example.invalid>", "capi_00000001 (blog)")
