"""Writes of users and API keys."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from contentapi.auth.people import get_user_by_email
from contentapi.core.entity_tags import UNCHANGING, ExpectedVersion, require_version
from contentapi.core.errors import Conflict, Invalid, NotFound, get_constraint_name, require_row
from contentapi.core.identity import ROLE_SCOPES, Actor, Role, Scope
from contentapi.core.policy import may_grant_scope, require_credential, require_permission
from contentapi.core.unicode import is_storable
from contentapi.events.triggers import attribute_changes
from users import policy, selectors
from users.audit import Audit
from users.models import MAX_EMAIL, MAX_NAME, ApiKey, User

API_KEY_DAYS = 365
MAX_KEY_DAYS = 36_500
MAX_KEY_NAME = 100
MAX_KEYS = 20  # valid ones of a user
KEY_PREFIX = re.compile(r"capi_[0-9a-f]{8}")
EDITABLE = {"email", "name", "role", "is_active"}


@transaction.atomic
def create_user(*, actor: Actor, email: str, name: str, role: Role = Role.READER, password: str | None = None) -> User:
    """Create a user; without a password the user cannot log in. Raises `Invalid`, and `Conflict` for a taken email."""
    require_permission(actor, policy.may_manage_users(actor), "create users")
    user = User(email=email.strip(), name=name.strip(), role=role)
    validate_user(user, password)
    user.set_password(password)
    save_user(actor, user)
    Audit.USER_CREATED.record(actor, "user", user.pk, role=str(user.role))
    return user


@transaction.atomic
def edit_user(*, actor: Actor, user_id: str, changes: Mapping[str, Any]) -> User:
    """Change a user: `changes` may have the fields in `EDITABLE`.

    Raises `NotFound`, `Invalid`, and `Conflict` for a taken email and for the last admin.
    """
    require_user_writes(actor, "change users")
    admins = lock_admins()
    user = find_user_to_change(actor, user_id)
    require_permission(actor, policy.may_manage_users(actor), "change this user")
    old = {name: getattr(user, name) for name in EDITABLE}
    values = {"role": user.role, "is_active": user.is_active, **changes}
    if values["role"] != Role.ADMIN or not values["is_active"]:
        require_other_admin(actor, user, admins)
    for name in EDITABLE & changes.keys():
        setattr(user, name, changes[name])
    if old["is_active"] and not user.is_active:
        user.locked_at = timezone.now()
    validate_user(user, None)
    save_user(actor, user)
    record_user_changes(actor, user, old)
    return user


def record_user_changes(actor: Actor, user: User, old: Mapping[str, Any]) -> None:
    """Write a line of the audit log for a new role, for a new state, and one for the names of other changed fields."""
    if user.role != old["role"]:
        states = {"from": str(old["role"]), "to": str(user.role)}
        Audit.USER_ROLE_CHANGED.record(actor, "user", user.pk, **states)
    if user.is_active != old["is_active"]:
        (Audit.USER_UNLOCKED if user.is_active else Audit.USER_LOCKED).record(actor, "user", user.pk)
    changed = sorted(name for name in ("email", "name") if getattr(user, name) != old[name])
    if changed:
        Audit.USER_CHANGED.record(actor, "user", user.pk, changed=",".join(changed))


def lock_user(*, actor: Actor, user_id: str) -> User:
    """Lock an account: its user cannot log in, its sessions end, and its API keys and tokens are refused.

    What the user has scheduled is not published, and preview links show nothing. Nothing is deleted.

    Raises `NotFound`, and `Conflict` for the last admin.
    """
    return edit_user(actor=actor, user_id=user_id, changes={"is_active": False})


def unlock_user(*, actor: Actor, user_id: str) -> User:
    """Unlock an account. Its password and its API keys are valid again, its sessions are not. Raises `NotFound`."""
    return edit_user(actor=actor, user_id=user_id, changes={"is_active": True})


@transaction.atomic
def set_password(*, actor: Actor, user_id: str, password: str | None) -> User:
    """Set a user's password, which ends the sessions of the user; without one the user cannot log in.

    Raises `NotFound`, `Invalid` for a weak password, and `Conflict` if the last admin would have none.
    """
    require_user_writes(actor, "set passwords")
    admins = lock_admins()
    user = find_user_to_change(actor, user_id)
    require_permission(actor, policy.may_manage_users(actor), "set the password of this user")
    if password is None:
        require_other_admin(actor, user, admins)
    return save_password(actor, user, password)


def save_password(actor: Actor, user: User, password: str | None) -> User:
    validate_user(user, password)
    user.set_password(password)
    user.save(update_fields=["password"])
    Audit.USER_PASSWORD_CHANGED.record(actor, "user", user.pk)
    return user


def lock_admins() -> list[int]:
    """Return the ids of the active admins. They are locked, in this order, so that two cannot remove each other."""
    admins = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk")
    return list(admins.select_for_update().values_list("pk", flat=True))


def require_other_admin(actor: Actor, user: User, admins: list[int]) -> None:
    """Raise `Conflict` if this user is the last active admin."""
    if admins == [user.pk] and not policy.may_leave_no_admin(actor):
        raise Conflict(f"{user.name} is the last admin. Make another user an admin first.")


def save_user(actor: Actor, user: User) -> User:
    try:
        with transaction.atomic(), attribute_changes(actor):
            user.save()
    except IntegrityError as error:
        if get_constraint_name(error) == "users_user_email_unique":
            raise Conflict(f"The email {user.email} is taken.") from None
        raise
    return user


@transaction.atomic
def delete_user(*, actor: Actor, user_id: str, expected_version: ExpectedVersion = None) -> str:
    """Delete a user with all their credentials, and return the id. Their posts, comments and orders stay.

    Raises `NotFound`, and `Conflict` for the last admin and for a version other than the one that all users have.
    """
    require_user_writes(actor, "delete users")
    admins = lock_admins()
    user = find_user_to_change(actor, user_id)
    require_permission(actor, policy.may_delete_user(actor, user.pk), "delete this user")
    require_version("user", UNCHANGING, expected_version)
    require_other_admin(actor, user, admins)
    pk = user.pk
    with attribute_changes(actor):
        user.delete()
    Audit.USER_DELETED.record(actor, "user", pk, role=str(user.role))
    return user_id


def require_user_writes(actor: Actor, action: str) -> None:
    """Raise `Unauthenticated` or `Forbidden` unless the actor may change users at all. Call this before the look-up."""
    require_permission(actor, policy.may_write_users(actor), action)


def find_user_to_change(actor: Actor, user_id: str) -> User:
    """Return a user whom the actor may see. The row is locked until the transaction ends."""
    users = selectors.select_user_by_id(actor, user_id).queryset()
    return require_row(users.select_for_update(of=("self",)), "user")


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


@transaction.atomic
def create_api_key(
    *,
    actor: Actor,
    email: str,
    name: str,
    scopes: Iterable[Scope] = (),
    expires_in_days: int = API_KEY_DAYS,
    prefix: str | None = None,
) -> str:
    """Create an API key for a user and return it. Only its digest is stored, so it cannot be returned again.

    Without scopes, the key has all scopes of the user's role. A caller may name the prefix, so that a repeated request
    creates no second key. Raises `NotFound` for the email, `Forbidden` for another user's key or a scope that the actor
    does not have, `Conflict` for a prefix that is taken and for a user with 20 valid keys, and `Invalid` for the rest.
    """
    require_credential(actor, "create API keys")
    user = get_user_by_email(email)
    may_create = policy.may_manage_keys_of(actor, user.pk)
    require_permission(actor, may_create, "create API keys for this user")
    granted = sorted(set(scopes) or ROLE_SCOPES[Role(user.role)])
    for scope in granted:
        require_permission(actor, may_grant_scope(actor, scope), f"create an API key with {scope}")
    prefix = validate_api_key(name=name.strip(), expires_in_days=expires_in_days, prefix=prefix or make_prefix())
    key = f"{prefix}_{secrets.token_hex(32)}"
    row = ApiKey(
        user=user,
        name=name.strip(),
        prefix=prefix,
        digest=hash_api_key(key),
        scopes=granted,
        expires_at=timezone.now() + timedelta(days=expires_in_days),
    )
    User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()  # nobody else creates keys of this user
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        if get_constraint_name(error) == "users_apikey_prefix_unique":
            raise Conflict("This request has already created an API key. Each key is shown once.") from None
        raise
    require_room_for_key(user)
    details = {"user_id": user.pk, "scopes": " ".join(granted), "expires_at": row.expires_at.isoformat()}
    Audit.API_KEY_CREATED.record(actor, "api_key", prefix, **details)
    return key


def require_room_for_key(user: User) -> None:
    """Raise `Conflict` if the user has more valid API keys than the limit, the new one included."""
    count = selectors.filter_keys_by_state(ApiKey.objects.filter(user=user), "valid").count()
    if count > MAX_KEYS:
        raise Conflict(f"A user may have at most {MAX_KEYS} valid API keys (got {count}). Revoke one first.")


def make_prefix() -> str:
    """Return a new prefix of an API key. It names the key and is no secret."""
    return f"capi_{secrets.token_hex(4)}"


def validate_api_key(*, name: str, expires_in_days: int, prefix: str) -> str:
    """Return the prefix. Raises `Invalid`."""
    if not 1 <= len(name) <= MAX_KEY_NAME or not is_storable(name):
        raise Invalid({"name": [f"From 1 to {MAX_KEY_NAME} characters."]})
    if not 1 <= expires_in_days <= MAX_KEY_DAYS:
        raise Invalid({"expires_in_days": [f"From 1 to {MAX_KEY_DAYS}."]})
    if not KEY_PREFIX.fullmatch(prefix):
        raise Invalid({"prefix": ["This is not the prefix of an API key."]})
    return prefix


def revoke_api_key(*, actor: Actor, prefix: str) -> None:
    """Revoke a key at once. Revoking it again changes nothing. Raises `NotFound`."""
    require_credential(actor, "revoke API keys")
    key = selectors.find_api_key(actor, prefix)
    if key is None:
        # The message does not repeat the text: it may be a whole key.
        raise NotFound("There is no API key with this prefix: the part of a key before its last underscore.")
    if ApiKey.objects.filter(prefix=prefix, revoked_at=None).update(revoked_at=timezone.now()):
        Audit.API_KEY_REVOKED.record(actor, "api_key", prefix, user_id=key.user_id)


def hash_api_key(key: str) -> bytes:
    """Return the digest of a key. A key has 256 random bits, so guessing cannot reverse a plain hash."""
    return hashlib.sha256(key.encode()).digest()
