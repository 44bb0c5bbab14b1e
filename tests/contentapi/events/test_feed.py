"""Pages of the feed: cursors, filters, and pages that look at a part of the log."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from blog.models import Post
from contentapi.core.errors import EventsExpired, Malformed, Unavailable
from contentapi.core.identity import ANONYMOUS, OPERATOR, Actor, Role
from contentapi.events import feed
from contentapi.events.feed import Feed, LogSubscription, list_last_events, read_log
from contentapi.events.models import Event, Log
from tests.event_log import relay
from tests.factories import make_actor, make_author, make_order, make_post


def read(actor: Actor = ANONYMOUS, **given: Any) -> list[Event]:
    values: dict[str, Any] = {"after": None, "types": None, "subject": None, **given}
    return list(Feed(actor, LogSubscription.parse(**values)).rows.queryset())


def read_subjects(**given: Any) -> list[int]:
    return [event.subject_id for event in read(**given)]


def make_authors(number: int) -> list[int]:
    authors = [make_author().pk for _ in range(number)]
    relay()
    return authors


def test_present_cursor_has_no_events_and_then_the_new_ones() -> None:
    make_authors(2)
    present = Feed(ANONYMOUS, LogSubscription("now"))
    assert list(present.rows.queryset()) == []

    authors = make_authors(1)

    assert read_subjects(after=present.log.format_cursor(present.end)) == authors


def test_text_that_is_no_cursor_is_malformed() -> None:
    for text in ("", "1", "abc", "-1", "abc-", "abc-01", "abc--1", "ABC-1", "abc-1 ", "later", "a-" + "9" * 19):
        with pytest.raises(Malformed, match="after must be the cursor of an event, or now"):
            read(after=text)


def test_cursor_of_events_that_are_gone_is_expired() -> None:
    make_authors(3)
    Log.objects.update(expired=2)
    log = read_log()

    lost, too_old = (log.format_cursor(position) for position in (log.position + 1, log.expired - 1))
    for cursor in (f"other-{log.position}", lost, too_old):
        with pytest.raises(EventsExpired, match="Read everything again"):
            read(after=cursor)


def test_expired_events_are_not_shown() -> None:
    authors = make_authors(3)
    Log.objects.update(expired=read()[0].position)

    assert read_subjects() == authors[1:]


def test_feed_without_a_log_is_unavailable() -> None:
    Log.objects.all().delete()

    with pytest.raises(Unavailable):
        read_log()


def test_types_select_events() -> None:
    post = make_post()
    Post.objects.filter(pk=post.pk).update(title="New")
    relay()
    types = {"post.*": 2, "post.created": 1, "post.updated": 1, "author.*": 1, "post.archived": 0}

    assert {name: len(read(types=[name])) for name in types} == types
    assert len(read(types=["author.*", "post.updated"])) == 2


def test_unknown_type_is_malformed() -> None:
    for name in ("post", "post.", "post.eaten", "*", "*.*", ".created", "pos.*", "Post.created", ""):
        with pytest.raises(Malformed, match="There are no events of the type"):
            read(types=["post.created", name])


def test_subject_selects_the_events_of_one_object() -> None:
    post = make_post()
    relay()

    assert [event.type for event in read(subject=str(post.pk))] == ["post.created"]
    assert read(subject="not an id") == []


def test_events_of_one_object_need_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    make_order()
    (author,) = make_authors(1)
    monkeypatch.setattr(feed, "WINDOW", 1)

    assert read_subjects(subject=str(author)) == [author]


def test_last_events_of_an_object_are_listed_backwards() -> None:
    post = make_post()
    for number in range(3):
        Post.objects.filter(pk=post.pk).update(title=str(number))
    relay()

    last = list_last_events(OPERATOR, post.pk, limit=2)
    earlier = list_last_events(OPERATOR, post.pk, before=last[-1].position, limit=5)

    assert [event.version for event in last] == [4, 3]
    assert [event.version for event in earlier] == [2, 1]


def test_page_is_one_statement_beside_the_state_of_the_log(client: Any) -> None:
    make_order()
    make_post()
    relay()
    actor = make_actor(Role.ADMIN)
    assert actor.user_id is not None
    client.get("/events")

    with CaptureQueriesContext(connection) as captured:
        client.get("/events?limit=100")

    assert [query["sql"].partition('FROM "events_')[2][:5].strip('") ') for query in captured if "events_" in query["sql"]] == ["log", "event"]  # fmt: skip  # noqa: E501
