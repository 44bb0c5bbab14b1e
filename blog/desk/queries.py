"""Reads that only the desk makes: its first page, the lists beside forms, and suggestions."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Least

from blog import policy, selectors
from blog.models import Author, Comment, Post, PostStatus, WorkingCopy
from contentapi.conf.timeouts import OVERDUE, RECENT
from contentapi.core.identity import Actor
from contentapi.projection import NEWEST_FIRST

EXCERPT = 5  # rows of a list on the desk
MAX_COUNT = 10_000
MAX_SUGGESTIONS = 10
CHOICES = 20  # of one page of suggestions of authors, and of accounts
SUGGESTING_POSTS = 5_000  # the newest posts, whose tags are suggested


def select_shown_comments(actor: Actor) -> QuerySet[Comment]:
    """Return the comments that the actor may see, with what a page shows of them."""
    known = name_moderators(selectors.comments.select_known_comments(actor))
    return known.select_related("author", "post__author").defer("post__body", "post__body_html")


def name_moderators(comments: QuerySet[Comment]) -> QuerySet[Comment]:
    """Return the comments with `state_changed_by_name`: the name of the user who changed the state."""
    users = get_user_model().objects.filter(pk=OuterRef("state_changed_by"))
    return comments.annotate(state_changed_by_name=Subquery(users.values("name")))


def find_comments_with(comments: QuerySet[Comment], words: str) -> QuerySet[Comment]:
    """Return the newest of some comments that have the words in their text or in the name of their author.

    Reads at most `MAX_COUNT` comments, so that its time has a limit: first the place where they end, in an index.
    """
    newest = comments.order_by("-created_at", "-id").values_list("created_at", "pk")
    end = newest[MAX_COUNT : MAX_COUNT + 1].first()
    if end is not None:
        comments = comments.filter(NEWEST_FIRST.beyond(*end, backwards=True))
    else:  # The LIMIT is never reached. It lets PostgreSQL begin with these few comments, and not with everybody's.
        comments = comments.filter(pk__in=newest.values("pk")[:MAX_COUNT])
    authors = Author.objects.filter(name__folded=words).values("pk")
    return comments.filter(Q(body__folded=words) | Q(author__in=authors))


def suggest_tags(actor: Actor, text: str) -> list[str]:
    """Return tags of the newest posts that the actor may see: those that begin with the text, then others with it.

    Both are ordered by the number of their posts. The statement reads `SUGGESTING_POSTS` posts, however many there are.
    Raises `Malformed` for a text that is longer than a tag.
    """
    wanted = selectors.posts.validate_tag(text).lower()
    posts = Post.objects.filter(policy.visible_posts(actor)).newest_first()[:SUGGESTING_POSTS]
    uses = Counter(tag for tags in posts.values_list("tags", flat=True) for tag in tags if wanted in tag.lower())
    return sorted(uses, key=lambda tag: (not tag.lower().startswith(wanted), -uses[tag], tag))[:MAX_SUGGESTIONS]


def find_own_author(actor: Actor) -> Author | None:
    """Return the author profile of the actor, if there is one."""
    return Author.objects.filter(user=actor.user_id).first() if actor.user_id else None


def find_authors(actor: Actor, term: str, page: int) -> tuple[list[Author], bool]:
    """Return a page of the authors whose name or email has a text, by name, and whether there are more."""
    found = selectors.authors.select_editable_authors(actor).filter(Q(name__folded=term) | Q(email__folded=term))
    rows = list(found.order_by("name", "pk")[(page - 1) * CHOICES : page * CHOICES + 1])
    return rows[:CHOICES], len(rows) > CHOICES


def find_accounts(term: str) -> QuerySet[Any]:
    """Return the first accounts without an author profile whose name or email has a text."""
    accounts = selectors.authors.select_writing_users().filter(author=None)
    return accounts.filter(Q(name__folded=term) | Q(email__folded=term)).order_by("name", "pk")[:CHOICES]


def name_authors(ids: Sequence[int]) -> list[str]:
    return [author.name for author in Author.objects.in_order_of(ids)]


class Excerpt(NamedTuple):
    """The first rows of a list, and the number of all its rows; above `MAX_COUNT`, one more than that."""

    rows: list[Any]
    total: int


def build_desk(actor: Actor, now: datetime) -> SimpleNamespace:
    """Return the excerpts of the first page, by two statements each: of own posts, and of changes that they may see."""
    posts = selectors.posts.select_written_posts(actor).select_related("author").defer("body", "body_html")
    due = select_scheduled(actor, posts).order_by("due_at", "id")
    scheduled = build_excerpt(due)
    late = [post for post in scheduled.rows if post.due_at < now - OVERDUE]
    comments = selectors.comments.filter_comments_by_state(selectors.comments.select_moderated_comments(actor), "")
    comments = comments.filter(created_at__gte=now - RECENT).order_by("-created_at", "-id")
    return SimpleNamespace(
        drafts=build_excerpt(posts.in_status(PostStatus.DRAFT).order_by("-updated_at", "-id")),
        scheduled=scheduled,
        overdue=Excerpt(late, count_rows(due.filter(due_at__lt=now - OVERDUE)) if late else 0),
        published=build_excerpt(posts.in_status(PostStatus.PUBLISHED).order_by("-publication_order", "-id")),
        changed=build_excerpt(
            selectors.posts.select_editable_posts(actor)
            .filter(working_copy__isnull=False)
            .select_related("author", "working_copy")
            .defer("body", "body_html", "working_copy__content")
            .order_by("-working_copy__updated_at", "-id")
        ),
        comments=build_excerpt(comments.select_related("author", "post").defer("post__body", "post__body_html")),
    )


def select_scheduled(actor: Actor, posts: QuerySet[Post]) -> QuerySet[Any]:
    """Return the posts that are scheduled, and those with scheduled changes that the actor may see.

    `due_at` is the first time at which something becomes public: without changes, the column that an index has.
    """
    copies = WorkingCopy.objects.filter(policy.visible_working_copies(actor), publish_at__isnull=False)
    is_scheduled = Q(status=PostStatus.SCHEDULED)
    ids = list(copies.values_list("pk", flat=True)[:MAX_COUNT])
    if not ids:
        return posts.filter(is_scheduled).annotate(due_at=F("publish_at"))
    times = Subquery(copies.filter(pk=OuterRef("pk")).values("publish_at"))
    return posts.filter(is_scheduled | Q(pk__in=ids)).annotate(due_at=Least("publish_at", times))


def count_rows(rows: QuerySet[Any]) -> int:
    """Return the number of rows. Counting stops after `MAX_COUNT` rows, so that its time has a limit."""
    return rows.order_by()[: MAX_COUNT + 1].count()


def build_excerpt(rows: QuerySet[Any], length: int = EXCERPT) -> Excerpt:
    """Return the first rows and their number."""
    total = count_rows(rows)
    return Excerpt(list(rows[:length]) if total else [], total)
