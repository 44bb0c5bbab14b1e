"""Requests that open streams of REST, and subscriptions: their plans, and their refusals."""

from itertools import product

import msgspec
import pytest
from django.http import HttpResponse

from contentapi.core.identity import Actor, Role, Scope
from contentapi.events.feed import read_log
from contentapi.events.tickets import create_ticket
from contentapi.streams.formats import GRAPHQL_FORMATS
from contentapi.streams.limits import FOR_ADDRESS, STREAMS
from contentapi.streams.opening import NOW, Opening
from contentapi.streams.plans import LogPlan
from tests.conftest import make_api_key
from tests.contentapi.streams.openings import (
    EVENTS,
    STREAM,
    build_environ,
    feed,
    open_stream,
    read_all,
    read_object,
    refuse_feed,
    refuse_subscription,
    send,
    subscribe,
)
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_post

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


REFUSED: list[tuple[dict[str, str], int, str]] = [
    ({"query": "after=zz-1"}, 410, "EVENTS_EXPIRED"),
    ({"query": "after=nonsense"}, 400, "BAD_REQUEST"),
    ({"query": "type=post.eaten"}, 400, "BAD_REQUEST"),
    ({"query": "limit=1"}, 400, "BAD_REQUEST"),
    ({"query": "ticket=unknown"}, 401, "UNAUTHENTICATED"),
    ({"x_api_key": "unknown"}, 401, "UNAUTHENTICATED"),
    ({"method": "POST"}, 405, "METHOD_NOT_ALLOWED"),
    ({"accept": "application/json"}, 406, "NOT_ACCEPTABLE"),
]


def test_refused_stream_has_the_status_and_the_code() -> None:
    for options, status, code in REFUSED:
        response = refuse_feed(**options)

        assert (response.status_code, response.headers["X-Error-Code"]) == (status, code), options
        assert not STREAMS.taken


def test_too_many_streams_of_an_address_are_refused() -> None:
    for _ in range(FOR_ADDRESS):
        feed()

    assert refuse_feed().status_code == 429


def test_ticket_opens_a_stream_with_the_rights_of_its_credential_and_is_refused_beside_another() -> None:
    actor = make_actor(Role.ADMIN)
    key = make_api_key(actor)
    ticket, _ = create_ticket(actor, {"X-API-Key": key})
    assert refuse_feed(f"ticket={ticket}", x_api_key=key).status_code == 400

    opening = feed(f"ticket={ticket}")

    assert (opening.actor.user_id, opening.actor.role) == (actor.user_id, Role.ADMIN)
    assert dict(opening.credential) == {"HTTP_X_API_KEY": key}
    assert refuse_feed(f"ticket={ticket}").status_code == 401


def test_subscription_selects_each_event() -> None:
    make_author()
    relay()
    log = read_log()
    cursor = log.format_cursor(log.position)

    opening = subscribe(EVENTS, variables={"from": log.format_cursor(log.position - 1)})

    assert read_all(opening) == [(cursor, {"data": {"events": {"cursor": cursor, "type": "author.created"}}})]


def test_equal_subscriptions_have_one_plan_wherever_they_resume() -> None:
    make_author()
    relay()
    cursors = [None, "now", *map(read_log().format_cursor, (0, 1))]
    keys = {subscribe(EVENTS, variables={"from": cursor}).plan.key for cursor in cursors}

    assert len(keys) == 1


@pytest.mark.parametrize("other", ["rights", "user", "selection", "format"])
def test_subscriptions_that_differ_have_plans_of_their_own(other: str) -> None:
    actor, query, accept = make_actor(Role.ADMIN), EVENTS, STREAM
    first = subscribe(EVENTS, x_api_key=make_api_key(actor))
    if other == "rights":
        actor = Actor(actor.user_id, actor.role, frozenset({Scope.POSTS_READ}))
    elif other == "user":
        actor = make_actor(Role.ADMIN)
    elif other == "selection":
        query = EVENTS.replace("type", "position")
    else:
        accept = "multipart/mixed"

    assert subscribe(query, x_api_key=make_api_key(actor), accept=accept).plan.key != first.plan.key


def test_two_keys_of_a_user_with_equal_rights_share_a_plan_and_limits() -> None:
    actor = make_actor(Role.ADMIN)
    first, second = (subscribe(EVENTS, x_api_key=make_api_key(actor)) for _ in range(2))

    assert first.plan.key == second.plan.key
    assert first.account.key == second.account.key == f"user:{actor.user_id}"


def test_object_of_a_subscription_is_read_with_the_rights_of_its_caller() -> None:
    draft = make_post(status="draft")
    query = f'subscription {{ post(id: "{draft.pk}") {{ title }} }}'
    plans = [subscribe(query).plan, subscribe(query, x_api_key=make_api_key(make_actor(Role.ADMIN))).plan]

    texts = [read_object(plan) for plan in plans]

    assert texts[0] == GRAPHQL_FORMATS[0].frame(b'{"data":{"post":null}}')
    assert draft.title.encode() in texts[1]


def test_subscription_by_get_is_opened() -> None:
    environ = build_environ("query=subscription%20{events{type}}") | {"PATH_INFO": "/graphql"}

    opening = open_stream(environ)

    assert isinstance(opening, Opening)
    assert isinstance(opening.plan, LogPlan)


WRONG = {
    "subscription { nothing }": "GRAPHQL_VALIDATION_FAILED",
    "subscription {": "GRAPHQL_PARSE_FAILED",
    "{ posts { id } }": "BAD_REQUEST",
    'subscription { events(after: "zz-1") { type } }': "EVENTS_EXPIRED",
    "subscription { events { ... on PostEvent { post { comments(limit: 0) { id } } } } }": "BAD_REQUEST",
}


def test_error_of_a_document_is_in_the_stream_of_a_client_that_reads_nothing_else() -> None:
    for (query, code), format_ in product(WRONG.items(), GRAPHQL_FORMATS):
        response = refuse_subscription(query, accept=format_.media_type)

        assert (response.status_code, response.headers["Content-Type"]) == (200, format_.content_type), query
        assert f'"code":"{code}"'.encode() in response.content, query
        assert response.content.endswith(format_.end), query
        assert not STREAMS.taken


def test_error_of_a_document_has_its_status_for_a_client_that_reads_json() -> None:
    response = refuse_subscription("subscription { nothing }", accept="multipart/mixed, application/json")

    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/json; charset=utf-8")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"query": "subscription { events { type } }"}', "text/plain"),
        ('{"query": "subscription { events { type } }"}'.encode("utf-16"), "application/json; charset=utf-16"),
        (b"[]", "application/json"),
        (b'{"query": "\xff"}', "application/json"),
    ],
)
def test_body_of_another_kind_is_refused_in_the_stream(body: bytes, content_type: str) -> None:
    response = send(body, content_type=content_type)

    assert isinstance(response, HttpResponse)
    assert response.status_code == 200
    assert b'"errors"' in response.content
    assert response.content.endswith(GRAPHQL_FORMATS[0].end)


@pytest.mark.parametrize(
    ("options", "status"),
    [({"x_api_key": "unknown"}, 401), ({"accept": "application/json"}, 406), ({"accept": "image/png"}, 406)],
)
def test_refusals_that_clients_must_see_keep_their_status(options: dict[str, str], status: int) -> None:
    assert refuse_subscription(EVENTS, **options).status_code == status


def test_variables_that_no_operation_declares_are_not_kept() -> None:
    keys = {subscribe(EVENTS, variables={"nonce": nonce}).plan.key for nonce in range(2)}

    assert len(keys) == 1


def test_long_variables_are_refused() -> None:
    body = msgspec.json.encode({"query": EVENTS, "variables": {"from": "x" * 20_000}})
    response = send(body, accept=f"{STREAM}, application/json")

    assert isinstance(response, HttpResponse)
    assert response.status_code == 400
    assert b"At most 16384 bytes of variables" in response.content
