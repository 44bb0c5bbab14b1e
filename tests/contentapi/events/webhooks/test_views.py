"""The collection of deliveries has pages by cursor only."""

from uuid import uuid4

import pytest

from contentapi.core.identity import Actor
from contentapi.events.webhooks.deliveries import claim
from tests.contentapi.events.webhooks.hooks import list_deliveries, make_hook
from tests.event_log import relay
from tests.factories import make_author
from tests.resources import send_request

pytestmark = pytest.mark.django_db


def test_deliveries_have_pages_by_cursor(admin_actor: Actor) -> None:
    webhook = make_hook()
    for _ in range(3):
        make_author()
    relay()
    claim(uuid4(), webhook.pk)
    path = f"/webhooks/{webhook.pk}/deliveries"

    first = send_request("GET", f"{path}?limit=2&state=waiting", actor=admin_actor).body
    second = send_request("GET", f"{path}?limit=2&state=waiting&cursor={first['next_cursor']}", actor=admin_actor).body

    newest_first = [str(delivery.pk) for delivery in reversed(list_deliveries(webhook))]
    assert [item["id"] for item in first["data"]] == newest_first[:2]
    assert ([item["id"] for item in second["data"]], second["next_cursor"]) == (newest_first[2:], None)
    assert send_request("GET", f"{path}?state=lost", actor=admin_actor).status == 400


def test_deliveries_have_no_offset_because_they_are_not_counted(admin_actor: Actor) -> None:
    response = send_request("GET", f"/webhooks/{make_hook().pk}/deliveries?offset=0", actor=admin_actor)

    assert response.status == 400
    assert response.body["error"] == 'Query parameter "offset" is unknown; known: cursor, fields, limit, state.'
