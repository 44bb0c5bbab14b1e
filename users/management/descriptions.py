"""Users, API keys and OAuth clients as the account commands print them: JSON objects without secrets and hashes."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from oauth2_provider.models import Application

from contentapi.auth.people import get_user_by_email
from contentapi.core.commands import JsonCommand, format_time
from contentapi.core.identity import OPERATOR, Role
from users.models import ApiKey, User


class UserActCommand(JsonCommand):
    """A command that changes a user by a service, and prints, with --json, the changed user.

    `read_values` returns the other values for the service. `result` follows the user's email.
    """

    service: Callable[..., User]
    read_values: Callable[[Mapping[str, Any]], dict[str, Any]] = staticmethod(lambda _: {})
    result = ""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("email", metavar="EMAIL")

    def handle(self, *, email: str, as_json: bool, **options: Any) -> None:
        user_id = str(get_user_by_email(email).pk)
        user = self.service(actor=OPERATOR, user_id=user_id, **self.read_values(options))
        message = f"{user.email} {self.result.format(**options)}"
        self.print_object(describe_user(user), message, as_json=as_json)
        self.note_missing_admin()

    def note_missing_admin(self) -> None:
        if not User.objects.filter(role=Role.ADMIN, is_active=True).exists():
            self.info("Note: there is no active admin now. create_admin, set_role and unlock_user make one.")


def describe_user(user: User) -> dict[str, Any]:
    return {
        "id": user.pk,
        "email": user.email,
        "name": user.name,
        "role": str(user.role),
        "locked": not user.is_active,
        "hasPassword": user.has_usable_password(),
        "createdAt": format_time(user.created_at),
        "lastLogin": format_time(user.last_login),
    }


def describe_api_key(key: ApiKey) -> dict[str, Any]:
    """Describe a key whose user is loaded."""
    return {
        "prefix": key.prefix,
        "name": key.name,
        "owner": key.user.email,
        "ownerId": key.user_id,
        "ownerLocked": not key.user.is_active,
        "state": key.get_state(timezone.now()),
        "scopes": list(key.scopes),
        "createdAt": format_time(key.created_at),
        "expiresAt": format_time(key.expires_at),
        "lastUsedAt": format_time(key.last_used_at),
        "revokedAt": format_time(key.revoked_at),
    }


def describe_client(client: Application) -> dict[str, Any]:
    """Describe a client whose user is loaded."""
    return {
        "clientId": client.client_id,
        "name": client.name,
        "type": client.client_type,
        "redirectUris": client.redirect_uris.split(),
        "owner": client.user.email if client.user else None,
        "createdAt": format_time(client.created),
        "updatedAt": format_time(client.updated),
    }
