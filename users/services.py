"""Writes of users and API keys."""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from contentapi.core import policy
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, NotFound, get_constraint_name, require_found
from contentapi.core.identity import ROLE_SCOPES, Actor, Role, Scope
from users import selectors
from users.models import MAX_EMAIL, MAX_NAME, ApiKey, User

API_KEY_DAYS = 365
EDITABLE = {"email", "name", "role", "is_active"}


@transaction.atomic
def create_user(*, actor: Actor, email: str, name: str, role: Role = Role.READER, password: str | None = None) -> User:
    """Create a user; without a password the user cannot log in. Raises `Invalid`, and `Conflict` for a taken email."""
    policy.require_permission(actor, policy.may_manage_users(actor), "create users")
    user = User(email=email.strip(), name=name.strip(), role=role)
    validate_user(user, password)
    user.set_password(password)
    return save_user(user)


@transaction.atomic
def edit_user(*, actor: Actor, user_id: str, changes: Mapping[str, Any]) -> User:
    """Change a user: `changes` may have the fields in `EDITABLE`. Raises `NotFound`, `Invalid`, `Conflict`."""
    user = find_user_to_change(actor, user_id, "change users")
    policy.require_permission(actor, policy.may_manage_users(actor), "change this user")
    for name in EDITABLE & changes.keys():
        setattr(user, name, changes[name])
    validate_user(user, None)
    return save_user(user)


def save_user(user: User) -> User:
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        if get_constraint_name(error) == "users_user_email_unique":
            raise Conflict(f"The email {user.email} is taken.") from None
        raise
    return user


@transaction.atomic
def delete_user(*, actor: Actor, user_id: str, expected_version: ExpectedVersion = None) -> None:
    """Delete a user with all their credentials. Their posts, comments and orders stay.

    Raises `NotFound`, and `Conflict` for a version other than the one that all users have.
    """
    user = find_user_to_change(actor, user_id, "delete users")
    policy.require_permission(actor, policy.may_delete_user(actor, user.pk), "delete this user")
    require_version("user", UNCHANGING, expected_version)
    user.delete()


def find_user_to_change(actor: Actor, user_id: str, act: str) -> User:
    """Return a user whom the actor may see. The row is locked until the transaction ends."""
    policy.require_credential(actor, act)
    users = selectors.select_user_by_id(actor, user_id)
    return require_found(users.select_for_update(of=("self",)).first(), "user")


def validate_user(user: User, password: str | None) -> None:
    problems: dict[str, list[str]] = {}
    if not user.name:
        problems["name"] = ["This must not be empty."]
    elif len(user.name) > MAX_NAME:
        problems["name"] = [f"At most {MAX_NAME} characters are allowed (got {len(user.name)})."]
    if len(user.email) > MAX_EMAIL or not is_email(user.email):
        problems["email"] = ["This is not an email address."]
    if password is not None:
        try:
            validate_password(password, user)
        except ValidationError as error:
            problems["password"] = list(error.messages)
    if problems:
        raise Invalid(problems)


def is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def create_api_key(*, email: str, name: str, scopes: Iterable[Scope] = (), expires_in_days: int = API_KEY_DAYS) -> str:
    """Create an API key for a user and return it. Only its digest is stored, so it cannot be returned again.

    Without scopes, the key has all scopes of the user's role. Raises `NotFound` for the email and `Invalid` for the
    rest.
    """
    user = selectors.get_user_by_email(email)
    if not 1 <= len(name.strip()) <= 100:
        raise Invalid({"name": ["From 1 to 100 characters."]})
    if not 1 <= expires_in_days <= 36_500:
        raise Invalid({"expires_in_days": ["From 1 to 36500."]})
    prefix = f"capi_{secrets.token_hex(4)}"
    key = f"{prefix}_{secrets.token_hex(32)}"
    ApiKey.objects.create(
        user=user,
        name=name.strip(),
        prefix=prefix,
        digest=hash_api_key(key),
        scopes=sorted(set(scopes) or ROLE_SCOPES[Role(user.role)]),
        expires_at=timezone.now() + timedelta(days=expires_in_days),
    )
    return key


def revoke_api_key(*, prefix: str) -> None:
    """Revoke a key at once. Revoking it again changes nothing. Raises `NotFound`."""
    if not ApiKey.objects.filter(prefix=prefix).exists():
        # The message does not repeat the text: it may be a whole key.
        raise NotFound("There is no API key with this prefix: the part of a key before its last underscore.")
    ApiKey.objects.filter(prefix=prefix, revoked_at=None).update(revoked_at=timezone.now())


def hash_api_key(key: str) -> bytes:
    """Return the digest of a key. A key has 256 random bits, so guessing cannot reverse a plain hash."""
    return hashlib.sha256(key.encode()).digest()
