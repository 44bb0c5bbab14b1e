"""Rows for the pages of the admin site that are not in the worlds."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from blog.models import ImportJob, ImportState
from tests.contract.worlds import World
from tests.webhook_rows import make_delivery, make_webhook
from users.models import ApiKey
from users.oauth.clients import register_client


def create_job(world: World) -> int:
    """Create an import that can be started or cancelled."""
    values = {"file_name": "site.zip", "source": "site", "status": "draft", "total": 1, "ignored": 0}
    return int(ImportJob.objects.create(owner=world.target.user, state=ImportState.CHECKED, **values).pk)


def create_key(world: World) -> int:
    values = {
        "name": "Key",
        "prefix": "capi_00000000",
        "digest": b"digest",
        "scopes": [],
        "expires_at": timezone.now() + timedelta(days=1),
    }
    return int(ApiKey.objects.create(user=world.target.user, **values).pk)


def create_client(_: World) -> int:
    register_client(name="App", redirect_uris=["https://app.example.invalid/callback"])
    return int(Application.objects.latest("pk").pk)


def create_consent(world: World) -> int:
    values: dict[str, Any] = {"user": world.target.user, "application_id": create_client(world)}
    token = AccessToken.objects.create(token="a", expires=timezone.now(), **values)
    return int(RefreshToken.objects.create(token="r", access_token=token, **values).pk)


def create_webhook(world: World) -> int:
    return make_webhook(world.target.user).pk


def create_delivery(world: World) -> tuple[int, int]:
    """Create a delivery that has failed. Return the ids of its webhook and its own."""
    delivery = make_delivery(make_webhook(world.target.user), state="failed", finished_at=timezone.now())
    return delivery.webhook_id, delivery.pk
