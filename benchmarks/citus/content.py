"""Posts and comments for one PostgreSQL, the same in each run. A post has 120 words.

Half of them are stop words, the others are of ten thousand different ones. Rows are inserted without the triggers, as
replication inserts, and indexed at the end. Texts repeat after a thousand rows, which makes no difference to
PostgreSQL, but to the time that it takes to make them.
"""

import sys
import time

import psycopg
from psycopg import sql

from contentapi.db.citus.steps import READ_INDEXES
from tests.citus.cluster import CitusNode

FIRST_POST, FIRST_COMMENT = 10**9, 10**12  # ids; those of the demo are below
AUTHORS, COMMENTS, TEXTS = 1000, 5, 1000  # in all, of each post, and different ones
WORDS = 60  # of a text, without its stop words
POSTS_OF_STATEMENT = 100_000
TABLES = ("blog_post", "blog_postsearch", "blog_comment")
CREATE_TEXTS = f"""
    CREATE TEMPORARY TABLE texts AS
    SELECT number, body, left(body, 80) AS comment, setweight(to_tsvector('english', body), 'C') AS document
    FROM generate_series(0, {TEXTS} - 1) AS number, LATERAL (
      SELECT string_agg('the w' || ((number * 31 + place * 7919 + number * place * 101) % 10000)::text, ' ') AS body
      FROM generate_series(1, {WORDS}) AS place
    ) AS words
"""
LOAD_AUTHORS = f"""
    INSERT INTO blog_author (id, name, bio, avatar_url, email, created_at)
    SELECT {FIRST_POST} + n, 'Author ' || n, 'A short text about the author.', '', '', timestamptz '2020-01-01'
    FROM generate_series(0, {AUTHORS} - 1) AS n
"""
LOAD_POSTS = f"""
    INSERT INTO blog_post (id, title, slug, body, status, author_id, created_at, updated_at, published_at, tags,
      version)
    SELECT {FIRST_POST} + n, 'Post ' || n, 'post-' || n, body, 'published', {FIRST_POST} + n % {AUTHORS},
      moment, moment, moment, ARRAY['t' || n % 50], 1
    FROM generate_series({{first}}, {{last}}) AS n
    JOIN texts ON number = n % {TEXTS}
    CROSS JOIN LATERAL (SELECT timestamptz '2020-01-01' + n * interval '10 s' AS moment) AS times
"""
LOAD_SEARCH = f"""
    INSERT INTO blog_postsearch (post_id, author_id, status, created_at, language, document)
    SELECT id, author_id, status, created_at, 'english', setweight(to_tsvector('english', title), 'A') || document
    FROM blog_post JOIN texts ON number = (id - {FIRST_POST}) % {TEXTS}
    WHERE id BETWEEN {FIRST_POST} + {{first}} AND {FIRST_POST} + {{last}}
"""
LOAD_COMMENTS = f"""
    INSERT INTO blog_comment (id, post_id, author_id, body, created_at)
    SELECT {FIRST_COMMENT} + n * {COMMENTS} + c, {FIRST_POST} + n, {FIRST_POST} + (n + c) % {AUTHORS}, comment,
      timestamptz '2020-01-01' + n * interval '10 s' + c * interval '1 s'
    FROM generate_series({{first}}, {{last}}) AS n CROSS JOIN generate_series(0, {COMMENTS} - 1) AS c
    JOIN texts ON number = (n + c) % {TEXTS}
"""


def load(server: CitusNode, posts: int) -> float:
    """Load a number of posts, with their comments and what search needs. Returns the seconds that it took."""
    began = time.monotonic()
    with psycopg.connect(server.build_url(), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET statement_timeout = 0")
        connection.execute(CREATE_TEXTS.encode())
        connection.execute("ANALYZE texts")
        connection.execute(LOAD_AUTHORS.encode())
        rows = [row for table in TABLES for row in connection.execute(READ_INDEXES.encode(), [table]).fetchall()]
        indexes = {name: definition for name, definition, is_unique, *_ in rows if not is_unique}
        for name in indexes:
            connection.execute(f"DROP INDEX {name}".encode())
        for first in range(0, posts, POSTS_OF_STATEMENT):
            last = min(first + POSTS_OF_STATEMENT, posts) - 1
            for statement in (LOAD_POSTS, LOAD_SEARCH, LOAD_COMMENTS):
                connection.execute(sql.SQL(statement).format(first=first, last=last))
            print(f"{last + 1:,} posts after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        for name, definition in indexes.items():
            connection.execute(definition.encode())
            print(f"{name} after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        connection.execute("VACUUM (ANALYZE)")
    return time.monotonic() - began


def choose_word(text: int, place: int) -> str:
    """Return one of the words of a text, as `CREATE_TEXTS` makes them. `place` begins with 1."""
    return f"w{(text * 31 + place * 7919 + text * place * 101) % 10000}"
