"""The desk: what is waiting, out and next, of the posts that an actor may change."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog.desk import queries
from blog.models import Author, Post
from contentapi.core.identity import OPERATOR, Role
from tests.admin_forms import log_in
from tests.factories import make_actor, make_author, make_comment, make_post, make_user, make_working_copy

INDEX = reverse("admin:index")


def schedule(author: Author | None = None, **delay: float) -> Post:
    return make_post(author=author, status="scheduled", publish_at=timezone.now() + timedelta(**delay))


def titles(excerpt: queries.Excerpt) -> list[str]:
    return [post.title for post in excerpt.rows]


def test_desk_names_scheduled_posts_that_no_worker_has_published() -> None:
    overdue = schedule(minutes=-2)
    schedule(seconds=-30)

    desk = queries.build_desk(OPERATOR, timezone.now())

    assert (titles(desk.overdue), desk.overdue.total, desk.scheduled.total) == ([overdue.title], 1, 2)


def test_desk_shows_drafts_changed_last_and_posts_published_last() -> None:
    now = timezone.now()
    for hours in range(7):
        time = now - timedelta(hours=hours)
        make_post(title=f"draft {hours}", status="draft", updated_at=time)
        make_post(title=f"published {hours}", published_at=time)
    make_post(status="archived")

    desk = queries.build_desk(OPERATOR, now)

    assert titles(desk.drafts) == [f"draft {hours}" for hours in range(5)]
    assert titles(desk.published) == [f"published {hours}" for hours in range(5)]
    assert (desk.drafts.total, desk.published.total) == (7, 7)


def test_desk_shows_the_comments_of_the_last_day() -> None:
    post, now = make_post(), timezone.now()
    make_comment(post, created_at=now - timedelta(hours=25))
    new = make_comment(post, created_at=now - timedelta(hours=23))

    assert queries.build_desk(OPERATOR, now).comments == queries.Excerpt([new], 1)


def test_desk_of_an_author_has_own_posts_and_comments_on_them() -> None:
    own_author, others = make_author(), make_author()
    actor = make_actor(Role.AUTHOR, author=own_author)
    for author in (own_author, others):
        for status in ("draft", "published"):
            make_comment(post := make_post(author=author, status=status), author=others)
            if status == "published":
                make_working_copy(post)
        schedule(author, days=1)
        schedule(author, days=-1)

    desk = queries.build_desk(actor, timezone.now())

    posts = [*desk.drafts.rows, *desk.scheduled.rows, *desk.published.rows, *desk.overdue.rows, *desk.changed.rows]
    assert {post.author for post in posts} == {own_author}
    assert {comment.post.author for comment in desk.comments.rows} == {own_author}
    assert [each.total for each in vars(desk).values()] == [1, 2, 1, 1, 1, 2]


def test_count_above_the_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_COUNT", 2)
    for _ in range(4):
        make_post(status="draft")

    text = log_in(make_user(Role.EDITOR)).get(INDEX).text

    assert '<span class="desk-count">more than 2</span>' in text


def test_scheduled_changes_are_among_the_scheduled_posts_with_their_time(editor_client: Client) -> None:
    now = timezone.now()
    changed, both, late = make_post(title="Changed"), schedule(days=4), make_post(title="Late")
    post = schedule(days=2)
    make_working_copy(changed, publish_at=now + timedelta(days=1))
    make_working_copy(both, publish_at=now + timedelta(days=3))
    make_working_copy(make_post(title="Not scheduled"))
    make_working_copy(late, publish_at=now - timedelta(hours=1))

    desk = queries.build_desk(OPERATOR, now)
    page = editor_client.get(INDEX).text
    lists = [
        editor_client.get(reverse("admin:blog_post_changelist"), {"status__exact": "scheduled", **order})
        for order in ({}, {"o": "-2"})
    ]

    assert titles(desk.scheduled) == ["Late", "Changed", post.title, both.title]
    assert titles(desk.overdue) == ["Late"]
    assert f'changes, <time datetime="{(now + timedelta(days=1)).isoformat()}"' in page
    found = [[row.title for row in each.context["cl"].result_list] for each in lists]
    assert found == [titles(desk.scheduled), titles(desk.scheduled)[::-1]]
    assert f'changes: <time datetime="{(now + timedelta(days=1)).isoformat()}"' in lists[0].text
    published = editor_client.get(reverse("admin:blog_post_changelist"), {"status__exact": "published"}).text
    assert "published, changes scheduled for <time" in published
    day = (now + timedelta(days=1)).date().isoformat()
    filters = {"publish_at_from": day, "publish_at_to": day}
    by_day = editor_client.get(reverse("admin:blog_post_changelist"), filters).context["cl"].result_list
    assert [row.title for row in by_day] == ["Changed"]


def test_scheduled_changes_of_others_are_not_shown_to_a_coauthor() -> None:
    coauthor = make_author()
    post = make_post(coauthor_ids=[coauthor.pk])
    make_working_copy(post, publish_at=timezone.now() + timedelta(days=1))

    assert queries.build_desk(make_actor(Role.AUTHOR, author=coauthor), timezone.now()).scheduled.rows == []
