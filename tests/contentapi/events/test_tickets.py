"""Tickets, which open one stream in place of a credential."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from contentapi.core.errors import Unauthenticated
from contentapi.core.identity import ANONYMOUS, Role
from contentapi.events.models import Ticket
from contentapi.events.tickets import consume_ticket, create_ticket
from tests.conftest import make_api_key
from tests.factories import make_actor

CREDENTIAL = {"X-API-Key": "capi_12345678_secret"}


def test_ticket_replaces_its_credential_once() -> None:
    ticket, _ = create_ticket(make_actor(Role.READER), CREDENTIAL)

    assert consume_ticket(ticket) == CREDENTIAL
    with pytest.raises(Unauthenticated, match="unknown, used or expired"):
        consume_ticket(ticket)


def test_ticket_is_valid_for_half_a_minute() -> None:
    before, lifetime = timezone.now(), timedelta(seconds=30)
    ticket, expires_at = create_ticket(make_actor(Role.READER), CREDENTIAL)
    assert before + lifetime <= expires_at <= timezone.now() + lifetime
    Ticket.objects.update(expires_at=timezone.now())

    with pytest.raises(Unauthenticated):
        consume_ticket(ticket)


def test_database_reveals_neither_ticket_nor_credential() -> None:
    ticket, _ = create_ticket(make_actor(Role.READER), CREDENTIAL)
    row = Ticket.objects.get()

    assert ticket not in row.digest
    assert b"secret" not in bytes(row.credential)


def test_expired_tickets_are_deleted_with_the_next_one() -> None:
    create_ticket(make_actor(Role.READER), CREDENTIAL)
    Ticket.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    create_ticket(make_actor(Role.READER), CREDENTIAL)

    assert Ticket.objects.count() == 1


def test_anonymous_caller_gets_no_ticket() -> None:
    with pytest.raises(Unauthenticated, match="A credential is needed to get a ticket"):
        create_ticket(ANONYMOUS, {})


def test_ticket_of_rest_replaces_the_header(client: Client) -> None:
    key = make_api_key(make_actor(Role.READER))
    response = client.post("/events/tickets", content_type="application/json", headers={"X-API-Key": key})

    assert response.status_code == 200
    assert consume_ticket(response.json()["ticket"]) == {"X-API-Key": key}
    assert client.post("/events/tickets", content_type="application/json").status_code == 401


def test_server_of_the_api_says_where_streams_are(client: Client) -> None:
    response = client.get("/events/stream")

    assert response.status_code == 400
    assert "CONTENTAPI_STREAM_URL" in response.json()["error"]
