"""Keep the documents of search up to date. The worker does this: a creation or a change does not wait for it.

Python splits the texts into words, and PostgreSQL reduces these to stems: its parser, which depends on the locale, has
no part in it.

Triggers note the posts that change in `SearchChange`. New posts are found by their ids. A comparison of all posts finds
the rest: posts of transactions that were open for longer than a minute, and documents of another language or version.

Several workers can run: one of them writes at a time. Each batch is a transaction, so a worker can stop at any time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Event
from time import monotonic
from typing import Any

from django.db import transaction

from blog import policy
from blog.models import CONTENT_FIELDS, SEARCHED, Author, Coauthorship, Kind, Post, PostSearch, SearchChange
from blog.rendering import extract_visible_text
from blog.search.words import build_stems, split_words
from contentapi.conf import conf
from contentapi.conf.timeouts import COMPARISON_INTERVAL, LATE_COMMIT
from contentapi.core.identity import Actor
from contentapi.core.policy import require_permission
from contentapi.core.unicode import fold_accents
from contentapi.db.statements import execute, fetch_column, fetch_rows
from contentapi.worker.items import try_each

VERSION = 3  # of the documents: with another number, the worker writes all of them again
POSTS_PER_TRANSACTION = 50
MAX_DOCUMENT = 2**20 - 1  # bytes of a `tsvector`, which needs fewer than its text
LAST_PLACE = 16_383  # of a word in a `tsvector`
MOST_PLACES = 256  # of one word

# What a body shows is searched with its places, and the rest of its Markdown, such as addresses, as words only.
READERS: Mapping[Kind, Callable[[Any], str]] = {
    Kind.LINE: str,
    Kind.MARKDOWN: extract_visible_text,
    Kind.WORDS: "\n".join,
}
WRITE_DOCUMENT = """
    INSERT INTO blog_postsearch (post_id, author_id, coauthor_ids, status, created_at, language, document)
    SELECT id, author_id, coauthor_ids, status, created_at, %s, %s::tsvector FROM blog_post WHERE id = %s
    ON CONFLICT (post_id) DO UPDATE SET
      author_id = excluded.author_id, coauthor_ids = excluded.coauthor_ids, status = excluded.status,
      created_at = excluded.created_at, language = excluded.language, document = excluded.document
"""
FIND_NEW_POSTS = """
    SELECT post.id FROM blog_post AS post LEFT JOIN blog_postsearch AS known ON known.post_id = post.id
    WHERE post.id > %s AND (known.post_id IS NULL OR known.language <> %s) ORDER BY post.id LIMIT %s
"""


def describe_origin() -> str:
    """Return what the present documents are made with: `english 2` for a language and the version."""
    return f"{conf.environment.contentapi_search_language} {VERSION}"


class SearchIndexer:
    """What one worker knows: the last ids that it has seen, and the progress of its comparison."""

    def __init__(self) -> None:
        self.settled = 0  # the last id some time ago: transactions with lower ids have ended, but for long ones
        self.marked: int | None = None  # the last id at the last mark; it is settled at the next one
        self.next_mark = 0.0
        self.tried = 0  # the last new post of this round: one that fails is tried once
        self.compared: int | None = 0  # the comparison has reached this id; None: no comparison is running
        self.next_comparison = monotonic() + LATE_COMMIT  # the first one can miss transactions that are open now

    def update(self, stop: Event, *, actor: Actor) -> None:
        """Write documents until there is nothing to do, or until `stop` is set.

        Before each batch of the comparison, which can take minutes, come changes, and then new posts.
        """
        require_permission(actor, policy.may_manage_posts_and_authors(actor), "update the search index")
        self.tried = 0
        while not stop.is_set() and self.write_batch():
            pass

    def write_batch(self) -> bool:
        """Return whether there may be more to do."""
        return index_changed_posts() or self.index_new_posts() or self.continue_comparison()

    def index_new_posts(self) -> bool:
        """Index a batch of the posts after the last id that was seen a minute ago. Return whether there may be more."""
        if monotonic() >= self.next_mark:
            last = Post.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
            self.settled, self.marked = last if self.marked is None else self.marked, last
            self.next_mark = monotonic() + LATE_COMMIT
        found = index_missing_posts(max(self.settled, self.tried)) or [self.tried]
        self.tried = found[-1]
        return len(found) == POSTS_PER_TRANSACTION

    def continue_comparison(self) -> bool:
        """Index a batch of the posts without a document in the present form. Return whether there may be more."""
        if self.compared is None:
            if monotonic() < self.next_comparison:
                return False
            self.compared, self.next_comparison = 0, monotonic() + COMPARISON_INTERVAL
        found = index_missing_posts(self.compared)
        if found is None:  # continue with the next update
            return False
        if len(found) == POSTS_PER_TRANSACTION:
            self.compared = found[-1]
            return True
        self.compared = None
        PostSearch.objects.exclude(post__in=Post.objects.all()).delete()
        return False


@transaction.atomic
def index_changed_posts() -> bool:
    """Index the posts of the oldest changes. Return whether there may be more."""
    if not lock_index():
        return False
    changes = list(SearchChange.objects.order_by("pk")[:POSTS_PER_TRANSACTION])
    authors = {change.author_id for change in changes if change.author_id is not None}
    if authors:
        written = Post.objects.filter(author__in=authors).values_list("pk", flat=True)
        coauthored = Coauthorship.objects.filter(author__in=authors).values_list("post_id", flat=True)
        further = [SearchChange(post_id=pk) for pk in {*written, *coauthored}]
        SearchChange.objects.bulk_create(further, batch_size=1000)
    changed = {change.post_id for change in changes if change.post_id is not None}
    index_posts(sorted(changed))
    done = [change.pk for change in changes]
    SearchChange.objects.filter(pk__in=done).delete()
    is_full = len(changes) == POSTS_PER_TRANSACTION
    return bool(authors) or is_full


@transaction.atomic
def index_missing_posts(after: int) -> list[int] | None:
    """Index the first posts after an id without a present document. Return their ids; None while others write."""
    if not lock_index():
        return None
    posts = fetch_column(FIND_NEW_POSTS, [after, describe_origin(), POSTS_PER_TRANSACTION])
    index_posts(posts)
    return posts


def lock_index() -> bool:
    """Return whether no other transaction writes documents; the lock keeps others from it until this one ends.

    Two writers at a time could write an older text over a newer one.
    """
    return bool(fetch_column("SELECT pg_try_advisory_xact_lock(hashtext('blog.indexing'))")[0])


def index_posts(posts: Sequence[int]) -> None:
    """Write the documents of posts. The next comparison tries again those that failed, which have none until then."""
    failed = try_each("search", posts, write_documents, "post {}".format)
    PostSearch.objects.filter(post__in=failed).delete()


@transaction.atomic
def write_documents(posts: Sequence[int]) -> bool:
    """Write the documents of posts. Returns true."""
    rows = list(Post.objects.filter(pk__in=posts).only(*SEARCHED, "author", "coauthor_ids"))
    writers = {pk for post in rows for pk in (post.author_id, *post.coauthor_ids)}
    names = dict(Author.objects.filter(pk__in=writers).values_list("pk", "name"))
    words = {post.pk: read_words(post, names) for post in rows}
    stems = read_stems({word for fields in words.values() for found in fields.values() for word in found})
    origin = describe_origin()
    for post in rows:
        execute(WRITE_DOCUMENT, [origin, build_document(words[post.pk], post.tags, stems), post.pk])
    return True


def read_words(post: Post, names: Mapping[int, str]) -> dict[str, list[str]]:
    """Return the words of a post by their weight: A, B or C, and none for those of Markdown that readers do not see."""
    texts: dict[str, list[str]] = {"A": [], "B": [], "C": [], "": []}
    for field in CONTENT_FIELDS:
        if field.weight:
            value = getattr(post, field.name)
            texts[field.weight].append(READERS[field.kind](value))
            if field.kind == Kind.MARKDOWN:
                texts[""].append(value)
    texts["B"] += [names[pk] for pk in (post.author_id, *post.coauthor_ids) if pk in names]
    words = {weight: split_words("\n".join(found)) for weight, found in texts.items()}
    return {**words, "": sorted({*words[""]}.difference(words["C"]))}


def read_stems(words: Iterable[str]) -> dict[str, list[str]]:
    """Return the stems of words: none of a word such as `the`."""
    rows = fetch_rows(f"SELECT word, {build_stems()} FROM unnest(%s::text[]) AS word", [sorted(words)])  # noqa: S608
    return dict(rows)


def build_document(words: Mapping[str, list[str]], tags: Sequence[str], stems: Mapping[str, list[str]]) -> str:
    """Return a document as PostgreSQL reads it: `'forest':8C 'forests' 'kelp':1A,7C '#736561'`.

    One that does not fit loses the words that nobody sees, and then the second half of its body until it fits.
    """
    document = " ".join(
        f"'{lexeme}':{','.join(places[:MOST_PLACES])}" if places else f"'{lexeme}'"
        for lexeme, places in list_lexemes(words, tags, stems).items()
    )
    if len(document.encode()) <= MAX_DOCUMENT:
        return document
    body = words["C"] if words[""] else words["C"][: len(words["C"]) // 2]
    return build_document({**words, "C": body, "": []}, tags, stems)


def list_lexemes(
    words: Mapping[str, list[str]], tags: Sequence[str], stems: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return the lexemes of a document with their places: stems, and words as written, which have none in a body."""
    lexemes: dict[str, list[str]] = {f"#{tag.encode().hex()}": [] for tag in tags}
    number = 0
    for weight, found in words.items():
        for number, word in enumerate(found, number + 2):  # noqa: B020 - the next field continues
            place = [f"{number}{weight}"] if weight and number <= LAST_PLACE else []
            for stem in stems[word]:
                lexemes.setdefault(stem, []).extend(place)
            if (written := fold_accents(word)) not in stems[word]:
                lexemes.setdefault(written, []).extend(place if weight in ("A", "B") else [])
    return lexemes
