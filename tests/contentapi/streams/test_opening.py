"""Requests that open streams of REST: their plans, and their refusals."""

import pytest

from contentapi.core.identity import Role
from contentapi.events.feed import read_log
from contentapi.events.tickets import create_ticket
from contentapi.streams.limits import FOR_ADDRESS, STREAMS
from contentapi.streams.opening import NOW
from tests.conftest import make_api_key
from tests.contentapi.streams.openings import feed, read_all, refuse_feed
from tests.event_log import relay
from tests.factories import make_actor, make_author

pytestmark = pytest.mark.django_db


def test_stream_begins_with_the_next_event_or_after_a_cursor() -> None:
    make_author()
    relay()
    cursor = read_log().format_cursor(0)

    assert feed().position == feed("after=now").position == NOW
    assert feed(f"after={cursor}").position == 0


def test_last_event_id_takes_precedence_over_after() -> None:
    make_author()
    relay()
    log = read_log()

    opening = feed("after=now", last_event_id=log.format_cursor(log.position - 1))

    assert opening.position == log.position - 1
    assert len(read_all(opening)) == 1


def test_events_are_those_of_the_feed() -> None:
    author = make_author()
    relay()
    log = read_log()

    (found,) = read_all(feed(f"after={log.format_cursor(log.position - 1)}"))

    assert found[0] == log.format_cursor(log.position)
    assert found[1]["data"]["name"] == author.name
    assert found[1]["type"] == "author.created"


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"query": "after=zz-1"}, 410, "EVENTS_EXPIRED"),
        ({"query": "after=nonsense"}, 400, "BAD_REQUEST"),
        ({"query": "type=post.eaten"}, 400, "BAD_REQUEST"),
        ({"query": "limit=1"}, 400, "BAD_REQUEST"),
        ({"query": "ticket=unknown"}, 401, "UNAUTHENTICATED"),
        ({"x_api_key": "unknown"}, 401, "UNAUTHENTICATED"),
        ({"method": "POST"}, 405, "METHOD_NOT_ALLOWED"),
        ({"accept": "application/json"}, 406, "NOT_ACCEPTABLE"),
    ],
)
def test_refused_stream_has_the_status_and_the_code(options: dict[str, str], status: int, code: str) -> None:
    response = refuse_feed(**options)

    assert (response.status_code, response.headers["X-Error-Code"]) == (status, code)
    assert not STREAMS.taken


def test_too_many_streams_of_an_address_are_refused() -> None:
    for _ in range(FOR_ADDRESS):
        feed()

    assert refuse_feed().status_code == 429


def test_ticket_opens_a_stream_with_the_rights_of_its_credential() -> None:
    actor = make_actor(Role.ADMIN)
    key = make_api_key(actor)
    ticket, _ = create_ticket(actor, {"X-API-Key": key})

    opening = feed(f"ticket={ticket}")

    assert (opening.actor.user_id, opening.actor.role) == (actor.user_id, Role.ADMIN)
    assert dict(opening.credential) == {"HTTP_X_API_KEY": key}
    assert refuse_feed(f"ticket={ticket}").status_code == 401


def test_ticket_beside_another_credential_is_refused() -> None:
    actor = make_actor(Role.ADMIN)
    key = make_api_key(actor)
    ticket, _ = create_ticket(actor, {"X-API-Key": key})

    assert refuse_feed(f"ticket={ticket}", x_api_key=key).status_code == 400
