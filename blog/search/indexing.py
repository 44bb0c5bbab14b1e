"""Keep the documents of search up to date. The worker does this: a creation or a change does not wait for it.

Triggers note the posts that change in `SearchChange`. New posts are found by their ids. A comparison of all posts finds
the rest: posts of transactions that were open for longer than a minute, and documents of another language.

Several workers can run: one of them writes at a time. Each batch is a transaction, so a worker can stop at any time.
"""

from collections import deque
from collections.abc import Sequence
from threading import Event
from time import monotonic
from typing import Any

import psycopg
from django.db import OperationalError, connection, transaction

from blog.models import CONTENT_FIELDS, MAX_BODY, Coauthorship, Kind, Post, PostSearch, SearchChange
from contentapi.conf import conf
from contentapi.conf.timeouts import COMPARISON_INTERVAL, LATE_COMMIT
from contentapi.core import policy
from contentapi.core.identity import Actor
from contentapi.db.citus.claims import is_distributed
from contentapi.worker.items import try_each

POSTS_PER_TRANSACTION = 50
VERSION = 2  # of the documents: with another number, the worker writes all of them again

SOURCES = {  # of the words of a field, in SQL
    Kind.LINE: "post.{}",
    Kind.MARKDOWN: "left(post.{}, %(length)s)",
    Kind.WORDS: "array_to_string(post.{}, ' ')",
}


COAUTHORS = "(SELECT coalesce(string_agg(name, ' '), '') FROM blog_author WHERE id = ANY(post.coauthor_ids))"


def build_text(weight: str, *others: str) -> str:
    """Return the text of all fields with a weight, in SQL."""
    fields = [SOURCES[field.kind].format(field.name) for field in CONTENT_FIELDS if field.weight == weight]
    return " || ' ' || ".join([*fields, *others])


WRITE_DOCUMENTS = f"""
    INSERT INTO blog_postsearch (post_id, author_id, coauthor_ids, status, created_at, language, document)
    SELECT post.id, post.author_id, post.coauthor_ids, post.status, post.created_at, %(origin)s,
      setweight(stem.a, 'A') || setweight(ts_delete(word.a, tsvector_to_array(stem.a)), 'A')
      || setweight(stem.b, 'B') || setweight(ts_delete(word.b, tsvector_to_array(stem.b)), 'B')
      || setweight(stem.c, 'C') || strip(ts_delete(word.c, tsvector_to_array(stem.c)))
      || array_to_tsvector(ARRAY(SELECT '#' || encode(convert_to(tag, 'UTF8'), 'hex') FROM unnest(post.tags) AS tag))
    FROM blog_post AS post
    JOIN blog_author AS author ON author.id = post.author_id
    CROSS JOIN LATERAL (
      SELECT {build_text("A")} AS a, {build_text("B", "author.name", COAUTHORS)} AS b, {build_text("C")} AS c OFFSET 0
    ) AS text
    CROSS JOIN LATERAL (
      SELECT to_tsvector(%(language)s::regconfig, text.a) AS a, to_tsvector(%(language)s::regconfig, text.b) AS b,
        to_tsvector(%(language)s::regconfig, text.c) AS c OFFSET 0
    ) AS stem
    CROSS JOIN LATERAL (
      SELECT to_tsvector('simple', text.a) AS a, to_tsvector('simple', text.b) AS b,
        to_tsvector('simple', text.c) AS c OFFSET 0
    ) AS word
    WHERE post.id = ANY(%(posts)s)
    ON CONFLICT (post_id) DO UPDATE SET
      author_id = excluded.author_id, coauthor_ids = excluded.coauthor_ids, status = excluded.status,
      created_at = excluded.created_at,
      language = excluded.language, document = excluded.document
"""  # noqa: S608 - names of columns

FIND_NEW_POSTS = """
    SELECT post.id FROM blog_post AS post LEFT JOIN blog_postsearch AS known ON known.post_id = post.id
    WHERE post.id > %s AND (known.post_id IS NULL OR known.language <> %s) ORDER BY post.id LIMIT %s
"""


def describe_origin() -> str:
    """Return what the present documents are made with: `english 2` for a language and the version."""
    return f"{conf.environment.contentapi_search_language} {VERSION}"


class SearchIndexer:
    """What one worker knows: the ids that it has seen, and the progress of its comparison."""

    def __init__(self) -> None:
        self.seen: deque[tuple[float, int]] = deque()  # the last id at some times, the earliest time first
        self.tried = 0  # the last new post of this round: one that fails is tried once
        self.compared: int | None = 0  # the comparison has reached this id; None: no comparison is running
        self.next_comparison = monotonic() + LATE_COMMIT  # the first one can miss transactions that are open now

    def update(self, stop: Event, *, actor: Actor) -> None:
        """Write documents until there is nothing to do, or until `stop` is set.

        Before each batch of the comparison, which can take minutes, come changes, and then new posts.
        """
        policy.require_permission(actor, policy.may_manage_posts_and_authors(actor), "update the search index")
        self.tried = 0
        while not stop.is_set() and self.write_batch():
            pass

    def write_batch(self) -> bool:
        """Return whether there may be more to do."""
        return index_changed_posts() or self.index_new_posts() or self.continue_comparison()

    def index_new_posts(self) -> bool:
        """Index a batch of the posts after the last id that was seen a minute ago. Return whether there may be more."""
        now, last = monotonic(), get_last_post_id()
        if not self.seen or last != self.seen[-1][1]:
            self.seen.append((now, last))
        while len(self.seen) > 1 and self.seen[1][0] <= now - LATE_COMMIT:
            self.seen.popleft()
        found = index_missing_posts(max(self.seen[0][1], self.tried))
        if found:
            self.tried = found[-1]
        return found is not None and len(found) == POSTS_PER_TRANSACTION

    def continue_comparison(self) -> bool:
        """Index a batch of the posts without a document in the present language. Return whether there may be more."""
        now = monotonic()
        if self.compared is None and now < self.next_comparison:
            return False
        if self.compared is None:
            self.compared, self.next_comparison = 0, now + COMPARISON_INTERVAL
        found = index_missing_posts(self.compared)
        if found is None:  # continue with the next update
            return False
        if len(found) == POSTS_PER_TRANSACTION:
            self.compared = found[-1]
            return True
        self.compared = None
        PostSearch.objects.exclude(post__in=Post.objects.all()).delete()
        return False


def get_last_post_id() -> int:
    return Post.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@transaction.atomic
def index_changed_posts() -> bool:
    """Index the posts of the oldest changes. Return whether there may be more."""
    if not lock_index():
        return False
    changes = list(SearchChange.objects.order_by("pk")[:POSTS_PER_TRANSACTION])
    authors = {change.author_id for change in changes if change.author_id is not None}
    if authors:
        written = Post.objects.filter(author__in=authors).values_list("pk", flat=True)
        posts = {*written, *Coauthorship.objects.filter(author__in=authors).values_list("post_id", flat=True)}
        SearchChange.objects.bulk_create([SearchChange(post_id=pk) for pk in posts], batch_size=1000)
    index_posts(sorted({change.post_id for change in changes if change.post_id is not None}))
    SearchChange.objects.filter(pk__in=[change.pk for change in changes]).delete()
    return bool(authors) or len(changes) == POSTS_PER_TRANSACTION


@transaction.atomic
def index_missing_posts(after: int) -> list[int] | None:
    """Index the first posts after an id that have no document in the present language.

    Return their ids, or None if another transaction writes documents.
    """
    if not lock_index():
        return None
    with connection.cursor() as cursor:
        cursor.execute(FIND_NEW_POSTS, [after, describe_origin(), POSTS_PER_TRANSACTION])
        posts = [pk for (pk,) in cursor.fetchall()]
    index_posts(posts)
    return posts


def lock_index() -> bool:
    """Return whether no other transaction writes documents; the lock keeps others from it until this one ends.

    Two writers at a time could write an older text over a newer one.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext('blog.indexing'))")
        (is_locked,) = cursor.fetchone()
    return bool(is_locked)


def index_posts(posts: Sequence[int]) -> None:
    """Write the documents of posts. The next comparison tries again those that failed, which have none until then."""
    failed = try_each("search", posts, write_documents, "post {}".format)
    PostSearch.objects.filter(post__in=failed).delete()


def write_documents(posts: Sequence[int], length: int = MAX_BODY) -> bool:
    """Write the documents of posts, with the first characters of each body.

    A document has at most 1 MB. A body that does not fit is halved until it fits; no other post is affected.
    """
    if is_distributed() and len(posts) > 1:  # each in its own shard
        return all(write_documents([pk], length) for pk in posts)
    if not posts:
        return True
    values: dict[str, Any] = {
        "posts": list(posts),
        "length": length,
        "language": conf.environment.contentapi_search_language,
        "origin": describe_origin(),
    }
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(WRITE_DOCUMENTS, values)
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.ProgramLimitExceeded):
            raise
        for pk in posts:
            write_documents([pk], length // 2 if len(posts) == 1 else length)
    return True
