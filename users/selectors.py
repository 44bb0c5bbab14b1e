"""Reads of users."""

from contentapi.errors import NotFound
from users.models import User


def get_user_by_email(email: str) -> User:
    """Return the user with this email, regardless of case. Raises `NotFound`."""
    user = User.objects.with_email(email).first()
    if user is None:
        raise NotFound(f"There is no user with the email {email}.")
    return user
