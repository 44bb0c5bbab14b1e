"""The states of comments: who sees and changes which, what is stored, the purge, and what can be restored."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from blog import selectors, services
from blog.desk import queries
from blog.models import Author, Comment, CommentState, DeletedComment
from blog.services import moderation
from contentapi.core.errors import Forbidden, NotFound
from contentapi.core.identity import ANONYMOUS, OPERATOR, Role
from tests.blog.comments_in_states import action, make_comment_in
from tests.blog.racing import race
from tests.conftest import GraphQL
from tests.factories import make_actor, make_author, make_comment, make_post

NEVER = datetime(1, 1, 1, tzinfo=UTC)

# The state after an action, for each state before it; None where the action is refused.
RESULTS = {
    "hide": {"visible": "hidden", "hidden": None, "deleted": None},
    "show": {"visible": None, "hidden": "visible", "deleted": None},
    "delete": {"visible": "deleted", "hidden": "deleted", "deleted": None},
    "restore": {"visible": None, "hidden": None, "deleted": "visible"},
}
DOCUMENT = """query ($id: ID!) { post(id: $id) {
    commentCount comments { body } commentsConnection { totalCount edges { node { body } } }
    author { posts { commentCount comments { body } } }
} }"""


# Who sees which


@pytest.mark.parametrize("role", [None, *Role])
def test_api_shows_visible_comments_only_to_every_caller(gql: GraphQL, role: Role | None) -> None:
    author = make_author()
    actor = make_actor(role, author=author) if role else ANONYMOUS
    post = make_post(author=author)
    for state in CommentState.values:
        make_comment_in(state, post, body=state, author=author)

    data = gql(DOCUMENT, actor=actor if role else None, id=post.pk).data["post"]

    shown = {"commentCount": 1, "comments": [{"body": "visible"}]}
    connection_shown = {"totalCount": 1, "edges": [{"node": {"body": "visible"}}]}
    assert data == {**shown, "commentsConnection": connection_shown, "author": {"posts": [shown]}}


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("state", ["hidden", "deleted"])
def test_rest_does_not_know_a_comment_that_is_not_visible(state: str, role: Role) -> None:
    author = make_author()
    actor = make_actor(role, author=author)
    comment = make_comment_in(state, make_post(author=author), author=author)

    rows = selectors.comments.select_comments(actor, str(comment.post_id)).queryset()

    assert list(rows) == []
    assert not selectors.comments.select_comment_by_id(actor, str(comment.pk)).queryset().exists()
    with pytest.raises(NotFound):
        services.delete_comment(actor=actor, comment_id=str(comment.pk))


# The actions


@pytest.mark.parametrize("state", CommentState.values)
@pytest.mark.parametrize("name", moderation.PATHS)
def test_action_changes_the_state_or_says_why_not(name: str, state: str) -> None:
    comment = make_comment_in(state, body="Hear!")
    before = Comment.objects.values().get()

    problem = action(name, comment)

    stored, expected = Comment.objects.get(), RESULTS[name][state]
    if expected is None:
        assert problem == f"It is {state}."
        assert Comment.objects.values().get() == before
    else:
        assert (problem, stored.state, stored.body) == ("", expected, "Hear!")
        assert (stored.state_changed_at or NEVER) > (before["state_changed_at"] or NEVER)


@pytest.mark.parametrize("unknown", ["0", "abc", str(2**63), str(10**9)])
def test_unknown_comment_is_not_found(unknown: str) -> None:
    with pytest.raises(NotFound):
        moderation.moderate_comment("hide", actor=OPERATOR, comment_id=unknown)


@pytest.mark.parametrize("name", ["hide", "restore"])
@pytest.mark.parametrize("whose", ["own post", "another's post"])
def test_author_moderates_the_comments_on_own_posts_only(name: str, whose: str) -> None:
    author = make_author()
    actor = make_actor(Role.AUTHOR, author=author)
    state = next(state for state, result in RESULTS[name].items() if result)
    comment = make_comment_in(state, make_post(author=author if whose == "own post" else None))

    problem = action(name, comment, actor=actor)

    if whose == "own post":
        assert problem == ""
    elif state == "visible":
        assert problem == f"You may not {name} this comment."
    else:
        assert problem == "There is no comment with this id."


@pytest.mark.django_db(transaction=True)
def test_second_of_two_moderators_who_hide_a_comment_gets_the_reason() -> None:
    comment = make_comment(make_post())

    results = race(
        lambda: Comment.objects.select_for_update().get(pk=comment.pk, post=comment.post_id),
        lambda: action("hide", comment),
        lambda: action("hide", comment),
    )

    assert sorted(results) == ["", "It is hidden."]


# Deletion


def test_deletion_over_the_api_is_a_deletion_by_its_author() -> None:
    author = make_author()
    reader = make_actor(Role.READER, author=author).through("REST")
    comment = make_comment(make_post(), author=author)

    services.delete_comment(actor=reader, comment_id=str(comment.pk))

    stored = Comment.objects.get()
    assert (stored.state, stored.state_changed_by, stored.body) == ("deleted", reader.user_id, "Well said.")
    assert stored.state_changed_by == Author.objects.get(pk=author.pk).user_id
    assert action("restore", stored) == ""


def test_search_of_comments_reads_a_limited_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_COUNT", 2)
    now, post = timezone.now(), make_post()
    oldest, older, newest = (
        make_comment(post, body="Needle", created_at=now - timedelta(hours=age), author=make_author(name=f"Ines {age}"))
        for age in (3, 2, 1)
    )

    assert set(queries.find_comments_with(Comment.objects.all(), "needle")) == {older, newest}
    assert set(queries.find_comments_with(Comment.objects.all(), "ines 1")) == {newest}
    assert set(queries.find_comments_with(Comment.objects.filter(pk=oldest.pk), "NEEDLE")) == {oldest}


def test_comment_deleted_more_than_30_days_ago_cannot_be_restored() -> None:
    comment = make_comment_in("deleted")
    Comment.objects.update(state_changed_at=timezone.now() - timedelta(days=30, seconds=1))

    assert action("restore", comment) == "It was deleted more than 30 days ago."


def test_purge_deletes_the_comments_that_were_deleted_long_ago_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moderation, "COMMENTS_PER_TRANSACTION", 2)  # several batches
    old = timezone.now() - timedelta(days=31)
    for _ in range(5):
        make_comment(make_post(), state="deleted", state_changed_at=old)
    kept = [make_comment_in("deleted"), make_comment(make_post(), state="hidden", state_changed_at=old)]
    kept.append(make_comment(make_post(), state_changed_at=old, created_at=old))

    assert moderation.purge_comments(actor=OPERATOR) == 5
    assert moderation.purge_comments(actor=OPERATOR) == 0

    assert set(Comment.objects.all()) == set(kept)
    assert not DeletedComment.objects.exists(), "the words of a purged comment are kept nowhere"


def test_purge_needs_permission() -> None:
    with pytest.raises(Forbidden):
        moderation.purge_comments(actor=make_actor(Role.AUTHOR))


def test_deletion_of_a_post_after_a_purge_keeps_its_comments_for_a_restore() -> None:
    post = make_post()
    make_comment(post)
    moderation.purge_comments(actor=OPERATOR)

    services.delete_post(actor=OPERATOR, post_id=str(post.pk))

    assert DeletedComment.objects.count() == 1
