"""Passwords by mail: asking for a link, inviting a user, and choosing a password at a link."""

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.db.models import QuerySet

from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import Actor
from contentapi.core.pagination import parse_id
from contentapi.core.policy import require_permission
from users import policy, services
from users.audit import Audit
from users.mail import INVITATION, NEW_PASSWORD, OUTBOX, is_mail_on
from users.models import User


def request_link(user: User | None) -> None:
    """Send a link if the user may log in with a password. The caller does not learn whether a link was sent."""
    is_sent = user is not None and user.is_active and user.has_usable_password()
    OUTBOX.add(user if is_sent else None, NEW_PASSWORD)


@transaction.atomic
def invite_user(*, actor: Actor, user_id: str) -> User:
    """Send a link to a user without a password. An earlier link stays valid until a password is chosen at one of them.

    Raises `NotFound`, and `Conflict` for a locked user, for a user with a password, and without EMAIL_URL.
    """
    services.require_user_writes(actor, "invite users")
    user = services.find_user_to_change(actor, user_id)
    require_permission(actor, policy.may_manage_users(actor), "invite this user")
    if not is_mail_on():
        raise Conflict("No mail can be sent: EMAIL_URL is not set.")
    if not user.is_active or user.has_usable_password():
        raise Conflict(f"{user.name} has a password." if user.is_active else f"{user.name} is locked.")
    Audit.USER_INVITED.record(actor, "user", user.pk)
    transaction.on_commit(lambda: OUTBOX.add(user, INVITATION))
    return user


def find_user_of_link(user_id: str, token: str, users: QuerySet[User] | None = None) -> User | None:
    """Return the user of a valid link, unless the user is locked."""
    found = (User.objects.all() if users is None else users).filter(pk=parse_id(user_id), is_active=True).first()
    return found if found is not None and default_token_generator.check_token(found, token) else None


@transaction.atomic
def choose_password(user_id: str, token: str, *, password: str) -> User:
    """Set the password of the user to whom a link was sent. Each link works once, even for concurrent requests.

    Raises `NotFound` for a link that is not valid, and for a locked user.
    """
    user = find_user_of_link(user_id, token, User.objects.select_for_update())
    if user is None:
        raise NotFound("This link is not valid.")
    return services.save_password(Actor(user.pk, credential="link", interface="admin"), user, password)
