"""The people behind ids and email addresses."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import F

from contentapi.core.errors import NotFound
from contentapi.core.unicode import is_storable


def get_user_by_email(email: str) -> Any:
    """Return the user with this email, regardless of case. Raises `NotFound`."""
    users = get_user_model()
    try:
        return users.objects.get_by_natural_key(email if is_storable(email) else "")
    except users.DoesNotExist:
        raise NotFound(f"There is no user with the email {email}.") from None


def name_users(user_ids: Iterable[int | None]) -> dict[int, str]:
    """Return the names of users by id, without those of deleted users. The caller checks the permission."""
    users = get_user_model().objects.filter(pk__in={user_id for user_id in user_ids if user_id is not None})
    return dict(users.values_list("pk", F("name")))


def name_person(user_id: int | None, names: Mapping[int, str]) -> str:
    """Return one of the names; an empty one if no user did it, as an operator or a program."""
    return "" if user_id is None else names.get(user_id, f"deleted user {user_id}")
