"""`python -m benchmarks.desk`: measure every page of the admin site on 100,000 posts and 500,000 comments.

Each page is opened as an author, an editor and an admin. The report has the median time, the CPU time of this process
and of PostgreSQL, and the number of statements. Pages over 150 ms are marked, “of CPU” if the CPU time is over it too:
on a busy machine, it means more than the elapsed time.
PostgreSQL and its rows are in var/desk, which can be deleted at any time.
"""

import argparse
import os
import statistics
import time
import zlib
from typing import Any, NamedTuple

import psutil

from benchmarks.database import Database, manage, our_environment
from benchmarks.places import ROOT
from contentapi.db.embedded.server import EmbeddedServer

WORK = ROOT / "var" / "desk"
POSTS, AUTHORS, COMMENTS, USERS = 100_000, 1_000, 500_000, 5_000
ROLES = ("author", "editor", "admin")  # this author has a hundred posts
FILES = 1_000  # of an import
LIMIT = 150  # milliseconds
ROWS = f"""
    INSERT INTO blog_author (id, name, bio, avatar_url, email, created_at)
    SELECT n, 'Author ' || n, repeat('Bio. ', 40), 'https://cdn.example.test/' || n, n || '@example.test', now()
    FROM generate_series(1, {AUTHORS}) n;
    UPDATE blog_author SET user_id = (SELECT id FROM users_user WHERE role = 'author') WHERE id = 1000;
    INSERT INTO blog_post (id, title, body, status, author_id, created_at, updated_at, published_at, publish_at, tags,
      version, changed_at, changed_with)
    SELECT n, 'Title ' || n, repeat('word' || n % 1000 || ' of many words. ', 100), status,
      CASE WHEN n % 5 = 0 THEN 1 ELSE 1 + n % {AUTHORS} END, at, at + n % 1000 * interval '1 hour',
      CASE WHEN status IN ('published', 'archived') THEN at END,
      CASE WHEN status = 'scheduled' THEN now() + n * interval '1 hour' END,
      ARRAY['tag' || n % 7, 'tag' || 7 + n % 11], 1, at, 'admin'
    FROM generate_series(1, {POSTS}) n,
      LATERAL (SELECT now() - n * interval '7 minutes' AS at,
        (ARRAY['published', 'published', 'published', 'draft', 'archived', 'scheduled'])[1 + n % 6] AS status) AS post;
    INSERT INTO blog_postsearch (post_id, author_id, status, created_at, language, document)
    SELECT id, author_id, status, created_at, 'english',
      setweight(to_tsvector('simple', title), 'A') || to_tsvector('simple', left(body, 100))
    FROM blog_post;
    INSERT INTO blog_comment (id, body, author_id, post_id, created_at)
    SELECT n, 'Comment ' || n || repeat(' Well said.', 10), 1 + n % {AUTHORS},
      CASE WHEN n % 5 = 0 THEN 1 + n % 100 ELSE 1 + n::bigint * 7919 % {POSTS} END, now() - n * interval '1 minute'
    FROM generate_series(1, {COMMENTS}) n;
    INSERT INTO users_user (id, email, name, role, password, is_active, created_at)
    SELECT 1000000 + n, 'reader' || n || '@example.test', 'Reader ' || n, 'reader', '', true, now()
    FROM generate_series(1, {USERS}) n;
    INSERT INTO orders_order (id, user_id, status, total, created_at, carrier, tracking_number)
    SELECT 1000000 + n, 1000000 + n, 'pending', 5, now(), '', '' FROM generate_series(1, {USERS}) n;
    UPDATE blog_post SET title = 'Title ' || id || ' with versions', version = version + 1 WHERE id <= 200;
    DELETE FROM blog_comment WHERE post_id BETWEEN 101 AND 200;
    DELETE FROM blog_postsearch WHERE post_id BETWEEN 101 AND 200;
    DELETE FROM blog_post WHERE id BETWEEN 101 AND 200;
    INSERT INTO blog_postsource (post_id, source, path, digest, authors, status, front_matter)
    SELECT 1000 + n, 'site', '_posts/' || n || '.md', '\\x00', '{{}}', 'published', '{{}}'
    FROM generate_series(1, {FILES}) n;
    INSERT INTO blog_importjob (id, owner_id, file_name, source, status, state, total, done, ignored, problem, run,
      attempts, created_at, updated_at)
    SELECT n, (SELECT id FROM users_user WHERE role = 'editor'), 'site.zip', 'site', 'published',
      (ARRAY['checked', 'importing', 'done'])[n], {FILES}, {FILES}, 3, '', 1, 0, now(), now()
    FROM generate_series(1, 3) n;
    INSERT INTO blog_importresult (job_id, is_plan, number, path, outcome, reason)
    SELECT job, is_plan, n, '_posts/' || n || '.md', CASE WHEN n % 10 = 0 THEN 'refused' ELSE 'created' END,
      CASE WHEN n % 10 = 0 THEN 'the date “soon” is not understood. Write it like 2024-01-31.' ELSE '' END
    FROM generate_series(1, {FILES}) n, generate_series(1, 3) job, (VALUES (true), (false)) AS kind (is_plan)
    WHERE is_plan OR job > 1
"""  # a fifth of the posts are one author's; the newest hundred posts have a thousand comments each


class Sent(NamedTuple):
    """A request that sends a form: the path, the values, and the status of the expected response."""

    path: str
    values: dict[str, str]
    status: int = 200


IMPORT_LIST, CLIENT_LIST = "/admin/blog/importjob/", "/admin/oauth2_provider/application/"
TEXT = {"title": "My title", "body": "My text of many words. " * 400, "tags": "tag1\ntag2"}
FORM = {"author": "1", "source-TOTAL_FORMS": "0", "source-INITIAL_FORMS": "0", "_save": "Save"}
OUTDATED = {**FORM, "opened_version": "1"}  # of a post with two versions
OPEN_PAGE = {"_page": "3f0c1a52-6a0e-4c9b-9d38-0b6f3d1c7a10"}
POST_LIST, COMMENT_LIST = "/admin/blog/post/", "/admin/blog/comment/"
TWO_DAYS = "published_at_from=2026-01-01&published_at_to=2026-01-02"
PAGES: dict[str, str | Sent] = {
    "desk": "/admin/",
    "posts": POST_LIST,
    "posts, last page": f"{POST_LIST}?p=400",
    "posts by publication, newest": f"{POST_LIST}?o=-5",
    "posts by publication, oldest": f"{POST_LIST}?o=5",
    "posts by change": f"{POST_LIST}?o=-6",
    "drafts": f"{POST_LIST}?status__exact=draft",
    "scheduled": f"{POST_LIST}?status__exact=scheduled",
    "published, by publication": f"{POST_LIST}?status__exact=published&o=-5",
    "published, by change": f"{POST_LIST}?status__exact=published&o=-6",
    "posts of the largest author": f"{POST_LIST}?author__id__exact=1",
    "posts of an author, by publication": f"{POST_LIST}?author__id__exact=7&o=-5",
    "posts of a tag": f"{POST_LIST}?tag=tag3",
    "posts of no tag": f"{POST_LIST}?tag=nothing",
    "posts of a tag, by publication": f"{POST_LIST}?tag=tag3&o=-5",
    "posts of two days": f"{POST_LIST}?created_at_from=2026-01-01&created_at_to=2026-01-02",
    "published in two days": f"{POST_LIST}?{TWO_DAYS}",
    "published in two days, by publication": f"{POST_LIST}?{TWO_DAYS}&o=-5",
    "all filters": f"{POST_LIST}?status__exact=draft&author__id__exact=1&tag=tag3&created_at_from=2025-01-01",
    "search: one match": f"{POST_LIST}?q=500",
    "search: all match": f"{POST_LIST}?q=words",
    "search: beginning of a word": f"{POST_LIST}?q=wor",
    "search: nothing": f"{POST_LIST}?q=nothing",
    "search by publication": f"{POST_LIST}?q=words&o=-5",
    "search and status": f"{POST_LIST}?q=words&status__exact=draft",
    "new post": f"{POST_LIST}add/",
    "post": f"{POST_LIST}1000/change/",
    "post with a thousand comments": f"{POST_LIST}5/change/",
    "deletion of it": f"{POST_LIST}5/delete/",
    "history": f"{POST_LIST}5/history/",
    "version": f"{POST_LIST}5/history/2/",
    "deleted posts": f"{POST_LIST}deleted/",
    "conflict of two editors": Sent(f"{POST_LIST}5/change/", TEXT | OUTDATED, 409),
    "other version taken over": Sent(f"{POST_LIST}5/take-over/", TEXT),
    "presence": Sent(f"{POST_LIST}999/presence/", OPEN_PAGE),
    "preview": Sent(f"{POST_LIST}preview/", {**TEXT, "post": "999"}),
    "suggestions of tags": f"{POST_LIST}tags/?q=tag",
    "suggestions of tags: none": f"{POST_LIST}tags/?q=nothing",
    "session": f"{POST_LIST}session/",
    "action of the list": Sent(POST_LIST, {"action": "schedule", "_selected_action": "999", "index": "0"}),
    "comments": COMMENT_LIST,
    "comments, last page": f"{COMMENT_LIST}?p=400",
    "comments, oldest": f"{COMMENT_LIST}?o=4",
    "comments of two days": f"{COMMENT_LIST}?created_at_from=2026-01-01&created_at_to=2026-01-02",
    "search in comments": f"{COMMENT_LIST}?q=499999",
    "search in comments: all match": f"{COMMENT_LIST}?q=well",
    "search in comments: nothing": f"{COMMENT_LIST}?q=nothing",
    "comment": f"{COMMENT_LIST}1/change/",
    "authors": "/admin/blog/author/",
    "author": "/admin/blog/author/1/change/",
    "deletion of an author": "/admin/blog/author/1/delete/",
    "authors for a field": "/admin/autocomplete/?app_label=blog&model_name=post&field_name=author&term=Author 9",
    "imports": IMPORT_LIST,
    "upload": f"{IMPORT_LIST}add/",
    "plan of an import": f"{IMPORT_LIST}1/change/",
    "plan of an import, last page": f"{IMPORT_LIST}1/change/?page=10",
    "running import": f"{IMPORT_LIST}2/change/",
    "progress": f"{IMPORT_LIST}2/progress/",
    "report of an import": f"{IMPORT_LIST}3/change/",
    "refused files of an import": f"{IMPORT_LIST}3/change/?outcome=refused",
    "keys": "/admin/users/apikey/",
    "new key": "/admin/users/apikey/add/",
    "users": "/admin/users/user/",
    "search in users": "/admin/users/user/?q=reader4999",
    "user": "/admin/users/user/1000001/change/",
    "history of a user": "/admin/users/user/1000001/history/",
    "password of a user": "/admin/users/user/1000001/password/",
    "own password": "/admin/password_change/",
    "applications": CLIENT_LIST,
    "new application": f"{CLIENT_LIST}add/",
    "consents": "/admin/oauth2_provider/refreshtoken/",
    "orders": "/admin/orders/order/",
    "order": "/admin/orders/order/1000001/change/",
    "section of the blog": "/admin/blog/",
    "search in the sections": "/admin/search/?s=post",
}


class Measurement(NamedTuple):
    """A page as it was measured. Times are medians in milliseconds: elapsed, and CPU time of both processes."""

    status: int
    elapsed: float
    own: float
    postgres: float
    statements: int
    slowest: str


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each page is opened; default: 5")
    parser.add_argument("--pages", default="", help="open only the pages whose name contains this text")
    parser.add_argument("--roles", nargs="+", choices=ROLES, default=ROLES)
    parser.add_argument("--statements", action="store_true", help="print the slowest statement of each marked page")
    options = parser.parse_args()
    server = EmbeddedServer(WORK / "postgres")
    database = load_database(server.acquire())
    os.environ.update(our_environment(database))
    os.environ |= {"CONTENTAPI_PROCESS": "server", "DJANGO_SETTINGS_MODULE": "contentapi.settings"}
    for role in options.roles:
        measure_role(role, options)


def load_database(folder: str) -> Database:
    """Return the database, and load its rows if they are missing or outdated."""
    maintenance, database = Database(folder, "postgres"), Database(folder, "desk")
    described = maintenance.row("SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'desk'")
    version = str(zlib.crc32(ROWS.encode()))
    if described != (version,):
        print("Loading the database (once; about two minutes)", flush=True)
        maintenance.run("DROP DATABASE IF EXISTS desk WITH (FORCE)", "CREATE DATABASE desk")
        manage(database, "migrate", "--verbosity", "0")
        for role in ROLES:
            manage(database, "create_user", f"{role}@example.test", "--name", role, "--role", role)
        database.run(*ROWS.split(";"), "VACUUM (ANALYZE)", f"COMMENT ON DATABASE desk IS '{version}'")
    manage(database, "migrate", "--verbosity", "0")
    return database


def measure_role(role: str, options: argparse.Namespace) -> None:
    browser = Browser(role)
    print(f"\n{role:38} {'median':>7} {'Python':>7} {'PostgreSQL':>10} {'statements':>10}")
    for name, page in PAGES.items():
        if options.pages not in name:
            continue
        found = browser.measure(page, options.rounds)
        if found.status != (page.status if isinstance(page, Sent) else 200):
            print(f"{name:38} {found.status}")
            continue
        is_slow = found.own + found.postgres > LIMIT
        mark = f"  over {LIMIT} ms{' of CPU' if is_slow else ''}" if found.elapsed > LIMIT else ""
        times = f"{found.elapsed:7.0f} {found.own:7.0f} {found.postgres:10.0f}"
        print(f"{name:38} {times} {found.statements:10}{mark}", flush=True)
        if mark and options.statements:
            print(f"    {found.slowest}")


class Browser:
    """A browser in which a user is logged in. Django runs in this process."""

    def __init__(self, role: str) -> None:
        import logging

        import contentapi.wsgi  # noqa: F401 - starts Django, and sets the garbage collector as in a server

        logging.disable(logging.INFO)  # pages that the role may not open
        from django.db import connection
        from django.test import Client

        from users.models import User

        self.connection = connection
        self.client = Client(SERVER_NAME="localhost")
        self.client.force_login(User.objects.get(email=f"{role}@example.test"))
        self.client.get("/admin/")
        self.backend = psutil.Process(connection.connection.info.backend_pid)

    def measure(self, page: str | Sent, rounds: int) -> Measurement:
        """Open a page some times, after a first time that is not measured."""
        self.open(page)
        spent, before = time.process_time(), sum(self.backend.cpu_times()[:2])
        opened = [self.open(page) for _ in range(rounds)]
        own, postgres = time.process_time() - spent, sum(self.backend.cpu_times()[:2]) - before
        elapsed = statistics.median(seconds for seconds, _, _ in opened)
        status, statements = opened[-1][1:]
        slowest = max(statements, default=(0.0, ""))
        described = f"{slowest[0] * 1000:.0f} ms: {slowest[1]}"
        return Measurement(
            status, elapsed * 1000, own * 1000 / rounds, postgres * 1000 / rounds, len(statements), described
        )

    def open(self, page: str | Sent) -> tuple[float, int, list[tuple[float, str]]]:
        """Return the time of a request, the status of its response, and its statements with their times."""
        statements: list[tuple[float, str]] = []

        def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - Django's
            began = time.perf_counter()
            try:
                return execute(sql, params, many, context)
            finally:
                statements.append((time.perf_counter() - began, f"{sql} {params}"))

        began = time.perf_counter()
        with self.connection.execute_wrapper(record):
            response = self.client.post(page.path, page.values) if isinstance(page, Sent) else self.client.get(page)
        return time.perf_counter() - began, response.status_code, statements


if __name__ == "__main__":
    main()
