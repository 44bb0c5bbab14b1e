"""The drill of events finds each difference between acknowledged writes, rows and the log."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from benchmarks.drill.ledger import Begin, Effect, Ledger, find_differences, make_text, read_begin
from blog.models import Comment, Post
from contentapi.events.models import Event
from tests.event_log import relay
from tests.factories import make_comment, make_post

pytestmark = pytest.mark.django_db


class Site:
    """Writes as the drill makes them: two posts, one with a second version, one deleted, and a comment."""

    def __init__(self) -> None:
        relay()
        self.ledger, self.begin = Ledger(), read_begin(read)
        self.texts = [make_text() for _ in range(4)]
        self.post, self.deleted = make_post(title=self.texts[0]), make_post(title=self.texts[1])
        Post.objects.filter(pk=self.post.pk).update(title=self.texts[2], version=2)
        self.comment = make_comment(self.post, body=self.texts[3])
        Post.objects.filter(pk=self.deleted.pk).delete()
        relay()
        effects = (
            Effect("post.created", self.post.pk, 1),
            Effect("post.created", self.deleted.pk, 1),
            Effect("post.updated", self.post.pk, 2),
            Effect("comment.created", self.comment.pk),
        )
        for text, effect in zip(self.texts, effects, strict=True):
            self.ledger.acknowledge("REST", effect, text=text)
        self.ledger.acknowledge("REST", Effect("post.deleted", self.deleted.pk))

    def find(self) -> str:
        return "; ".join(find_differences(read, self.ledger, self.begin))


def read(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def lose_event(site: Site) -> None:
    Event.objects.filter(subject_id=site.post.pk, version=2).delete()


def double_event(site: Site) -> None:
    event = Event.objects.get(subject_id=site.comment.pk)
    event.position += 1000
    event.save(force_insert=True)


def lose_row(site: Site) -> None:
    Comment.objects.filter(pk=site.comment.pk).delete()
    read("DELETE FROM blog_deletedcomment RETURNING 1")


def commit_what_was_rolled_back(site: Site) -> None:
    site.ledger.abandon(site.texts[0])


def write_twice(site: Site) -> None:
    make_post(title=site.texts[0])
    relay()


def acknowledge_what_was_not_written(site: Site) -> None:
    site.ledger.acknowledge("desk", text=make_text())


def test_complete_log_has_no_differences() -> None:
    assert Site().find() == ""


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (lose_event, ["1 acknowledged writes have not one event", "1 differences of rows and events", "lacks"]),
        (double_event, ["1 acknowledged writes have not one event", "1 differences of rows and events", "lacks"]),
        (lose_row, ["1 acknowledged texts are lost", "1 differences of rows and events"]),
        (commit_what_was_rolled_back, ["1 texts were not rolled back"]),
        (write_twice, ["1 texts were written twice"]),
        (acknowledge_what_was_not_written, ["1 acknowledged texts are lost"]),
    ],
)
def test_difference_is_found(change: Callable[[Site], None], problems: list[str]) -> None:
    site = Site()

    change(site)

    found = site.find().split("; ")
    assert [problem in text for problem, text in zip(problems, found, strict=True)] == [True] * len(problems), found


def test_begin_is_that_of_the_log_and_the_rows() -> None:
    post = make_post()
    relay()

    begin = read_begin(read)

    assert begin == Begin(Event.objects.latest("position").position, post.pk)
