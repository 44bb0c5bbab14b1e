"""`manage.py distribute` on a cluster: interruptions, repetitions, migrations, and what the start says."""

import json

import psycopg
import pytest
from django.apps import apps

from contentapi.db.distribution import CLAIMS
from contentapi.db.placement import list_distributed, list_shard_keys
from contentapi.events.relay import TWO_PHASES
from tests.citus.cluster import CitusNode, find_programs
from tests.citus.conftest import Distribution
from tests.citus.operators import DISTRIBUTE, manage, run

pytestmark = [
    pytest.mark.citus,
    pytest.mark.skipif(find_programs() is None, reason="No PostgreSQL of this host has Citus."),
]
VISIBLE_SHARDS = "-c citus.override_table_visibility=off"
ASK_FOR_EACH_POST = """
import django; django.setup()
from django.test import Client
import sys
for pk in sys.argv[1:]:
    response = Client().get(f"/posts/{pk}", headers={"host": "localhost"})
    print(pk, response.status_code, response.headers.get("Retry-After", ""))
"""
ASK_GRAPHQL = """
import django; django.setup()
from django.test import Client
import sys
body = {"query": sys.argv[1]}
print(Client().post("/graphql", body, content_type="application/json", headers={"host": "localhost"}).content.decode())
"""
NESTED = """
{ posts(limit: 5) { id comments { id } commentCount commentsConnection(first: 50) { edges { node { id } } totalCount }
    author { posts(limit: 2) { author { id } coauthors { id } } postsConnection(first: 1) { totalCount } id }
    cover { image { url(width: 320) } } } }
"""
RECORD = (
    "INSERT INTO contentapi_idempotencyrecord (key, request, status, headers, body, created_at)"
    " VALUES ('two phases', '', 201, '{}', '', now())"
)
START = "import django; django.setup(); from contentapi.health.checks import report_database_state as r; r()"


def test_plan_changes_nothing(distribution: Distribution) -> None:
    assert "Distribute blog_post by id" in distribution.plan
    assert distribution.tables_after_plan == 0


def test_interrupted_run_leaves_its_other_steps_to_the_next_one(distribution: Distribution) -> None:
    left = distribution.left.splitlines()

    assert distribution.interrupted.returncode == 1
    assert set(left) < set(distribution.plan.splitlines())
    assert set(left).isdisjoint(distribution.interrupted.stdout.splitlines()[:-1])


def test_repetition_does_nothing(coordinator: CitusNode) -> None:
    assert manage(coordinator, *DISTRIBUTE) == "Everything is distributed.\n"


def test_functions_that_are_older_than_the_cluster_are_on_each_node(distribution: Distribution) -> None:
    """Triggers of the posts call them, so that no post could be changed."""
    functions = (
        "SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc WHERE NOT EXISTS (SELECT FROM pg_depend"
        " WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')"
        " AND pronamespace = 'public'::regnamespace"
    )
    ((of_coordinator,),) = distribution.coordinator.execute(functions)

    assert "_pgtrigger_should_ignore" in of_coordinator.split()
    assert [node.execute(functions) for node in distribution.nodes] == [[(of_coordinator,)]] * 3


def test_process_on_a_worker_does_not_start_and_names_the_remedy(distribution: Distribution) -> None:
    done = run(distribution.worker, "-c", START)

    assert done.returncode == 1
    assert "HINT: Set DATABASE_URL to the address of the coordinator." in done.stderr


def test_content_has_moved_and_left_no_rows_behind(coordinator: CitusNode) -> None:
    tables = ", ".join(f"'{name}'" for name in list_shard_keys())

    filled = f"SELECT relname FROM pg_class WHERE relname IN ({tables}) AND pg_relation_size(oid) > 0"  # noqa: S608

    assert coordinator.execute(filled) == []
    assert coordinator.execute("SELECT count(*) > 5 FROM blog_post") == [(True,)]


def test_posts_have_the_number_of_shards_and_their_comments_the_foreign_keys(coordinator: CitusNode) -> None:
    shards = "SELECT count(DISTINCT shardid) FROM citus_shards WHERE table_name = 'blog_post'::regclass"
    assert coordinator.execute(shards) == [(4,)]
    keys = "SELECT count(*) FROM pg_constraint WHERE conrelid = 'blog_comment'::regclass AND contype = 'f'"
    assert coordinator.execute(keys) == [(2,)]


def test_each_shard_has_the_indexes_that_were_dropped_before_the_copy(distribution: Distribution) -> None:
    tables = [model._meta for model in apps.get_models() if model._meta.db_table in list_distributed()]
    names = {index.name for table in tables for index in table.indexes}
    index = "SELECT substring(relname, '(.+)_[0-9]+$'), count(*) FROM pg_class WHERE relkind = 'i' GROUP BY 1"

    with psycopg.connect(distribution.worker.build_url(), options=VISIBLE_SHARDS) as connection:
        of_shards: dict[str, int] = dict(connection.execute(index).fetchall())

    assert len(names) > 20
    assert {of_shards.get(name) for name in names} == {2}  # of 4 shards, on one of two workers


@pytest.mark.parametrize("record", [RECORD, TWO_PHASES], ids=["record", "no change"])
def test_write_with_an_idempotency_record_is_committed_in_two_phases(coordinator: CitusNode, record: str) -> None:
    """In one phase, the node commits first. A coordinator that fails then loses the record, and a repeated write is
    carried out again.
    """
    seen: list[str] = []
    (post,) = coordinator.execute("SELECT min(id) FROM blog_post")
    with psycopg.connect(coordinator.build_url()) as connection:
        connection.add_notice_handler(lambda notice: seen.append(notice.message_primary or ""))
        connection.execute("SET citus.log_remote_commands = on")
        connection.execute("UPDATE blog_post SET title = title WHERE id = %s", post)
        connection.execute(record.encode())

    assert any("PREPARE TRANSACTION" in message for message in seen)


def test_server_starts_only_with_the_variable(coordinator: CitusNode) -> None:
    done = run(coordinator, "-c", START, CONTENTAPI_DISTRIBUTED="")

    assert done.returncode == 1
    assert "HINT: Set CONTENTAPI_DISTRIBUTED=citus" in done.stderr
    assert run(coordinator, "-c", START).returncode == 0


def test_migrate_restores_the_triggers_that_a_migration_has_changed(coordinator: CitusNode) -> None:
    function, source = coordinator.execute(
        "SELECT tgfoid::regproc::text, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid"
        " WHERE tgrelid = 'blog_post'::regclass AND tgname LIKE '%announce_created%' AND NOT tgisinternal"
    )[0]
    original = "BEGIN INSERT INTO events_outbox (type, subject_id) SELECT 'post.created', NEW.id; RETURN NULL; END;"
    replace = f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS "
    coordinator.execute(f"{replace} $f${original}$f$")

    manage(coordinator, "migrate", "--noinput")

    ((restored,),) = coordinator.execute(f"SELECT prosrc FROM pg_proc WHERE oid = '{function}'::regproc")  # noqa: S608
    coordinator.execute(f"{replace} $f${source}$f$")
    assert "LOOP INSERT INTO events_outbox (parent_id, " in restored
    assert restored == source


def test_trigger_writes_to_its_own_node_only(coordinator: CitusNode) -> None:
    comments = coordinator.execute("SELECT id, post_id FROM blog_comment WHERE state = 'visible' LIMIT 5")
    nested = "SELECT DISTINCT result FROM run_command_on_all_nodes('SHOW citus.allow_nested_distributed_execution')"
    assert coordinator.execute(nested) == [("off",)]  # so that Citus refuses anything else

    for comment, post in comments:  # each by a connection of its own
        changed = "state = 'hidden', state_changed_at = now(), state_changed_with = 'database'"
        coordinator.execute(f"UPDATE blog_comment SET {changed} WHERE id = {comment} AND post_id = {post}")  # noqa: S608

    hidden = "SELECT subject_id, parent_id FROM events_outbox WHERE type = 'comment.hidden'"
    assert comments
    assert set(comments) <= set(coordinator.execute(hidden))


def test_column_of_a_migration_is_on_each_shard(coordinator: CitusNode) -> None:
    coordinator.execute("ALTER TABLE blog_post ADD COLUMN subtitle text NOT NULL DEFAULT ''")

    assert coordinator.execute("SELECT count(*) FROM blog_post WHERE subtitle IS NULL") == [(0,)]
    coordinator.execute("ALTER TABLE blog_post DROP COLUMN subtitle")


def test_slug_of_each_post_is_claimed(coordinator: CitusNode) -> None:
    posts = coordinator.execute("SELECT id, slug FROM blog_post ORDER BY id")
    claims = coordinator.execute(f"SELECT post_id, value FROM {CLAIMS} WHERE kind = 'slug' ORDER BY 1")  # noqa: S608
    assert len(posts) > 5
    assert claims == posts


def test_rows_below_other_rows_are_of_all_shards(coordinator: CitusNode) -> None:
    done = run(coordinator, "-c", ASK_GRAPHQL, NESTED)
    shown = json.loads(done.stdout.splitlines()[-1])

    assert "errors" not in shown
    for post in shown["data"]["posts"]:
        comments = post["commentsConnection"]
        assert [edge["node"]["id"] for edge in comments["edges"]] == [each["id"] for each in post["comments"]]
        assert comments["totalCount"] == post["commentCount"]
        for each in post["author"]["posts"]:
            assert post["author"]["id"] in {writer["id"] for writer in (each["author"], *each["coauthors"])}
        assert post["author"]["postsConnection"]["totalCount"] >= len(post["author"]["posts"]) > 0


def test_lost_worker_fails_the_requests_for_its_posts_only(distribution: Distribution) -> None:
    coordinator, worker = distribution.coordinator, distribution.worker
    shard = "get_shard_id_for_distribution_column('blog_post', id)"
    public = f"SELECT id::text, {shard} FROM blog_post WHERE status = 'published'"  # noqa: S608
    manage(coordinator, "load_demo")
    shards = dict(coordinator.execute(public))
    here = coordinator.execute(f"SELECT shardid FROM citus_shards WHERE nodeport = {worker.port}")  # noqa: S608
    lost = {post for post, shard in shards.items() if (shard,) in here}

    worker.kill()
    try:
        answers = ask(coordinator, *shards)
    finally:
        worker.start()

    assert lost
    assert lost < answers.keys()
    assert {post for post, (status, _) in answers.items() if status == "503"} == lost
    assert all(seconds for status, seconds in answers.values() if status == "503")
    assert {status for status, _ in ask(coordinator, *shards).values()} == {"200"}


def ask(coordinator: CitusNode, *posts: str) -> dict[str, tuple[str, str]]:
    """Return the status and the header Retry-After of the response for each post, from a process of its own."""
    done = run(coordinator, "-c", ASK_FOR_EACH_POST, *posts)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" ") for line in done.stdout.splitlines() if line.count(" ") == 2]
    return {post: (status, seconds) for post, status, seconds in rows}
