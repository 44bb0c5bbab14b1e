"""`manage.py backup` of a cluster, and `restore` into another one. The databases of both are on the same nodes."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from contentapi.db.distribution import CLAIMS
from tests.citus.cluster import find_programs, join_nodes
from tests.citus.conftest import Distribution
from tests.citus.operators import DISTRIBUTE, build_variables, manage, run
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import ROOT, wait_until

pytestmark = [
    pytest.mark.citus,
    pytest.mark.skipif(find_programs() is None, reason="No PostgreSQL of this host has Citus."),
]
RESTORED = "restored"
CONTENT = (
    "SELECT id, slug, title, author_id FROM blog_post ORDER BY id",
    "SELECT id, post_id, body FROM blog_comment ORDER BY id",
    f"SELECT value, post_id FROM {CLAIMS} WHERE kind = 'slug' ORDER BY value",  # noqa: S608 - a constant
)
WAITS_FOR_WRITES = "SELECT 1 FROM pg_locks WHERE locktype = 'relation' AND mode = 'ShareLock' AND NOT granted"
WRITE = f"INSERT INTO {CLAIMS} (kind, value, post_id) VALUES ('file', 'written meanwhile', 1)"  # noqa: S608 - a constant


@pytest.fixture(scope="module")
def backup(distribution: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup that begins while a transaction writes, which is committed when the backup waits for it."""
    path = tmp_path_factory.mktemp("backups") / "content.backup"
    coordinator = distribution.coordinator
    with psycopg.connect(coordinator.build_url()) as writer:
        writer.execute(WRITE)
        command = [sys.executable, "manage.py", "backup", str(path)]
        running = subprocess.Popen(
            command, cwd=ROOT, env=build_variables(coordinator), stderr=subprocess.PIPE, text=True
        )
        try:
            wait_until(lambda: running.poll() is not None or coordinator.execute(WAITS_FOR_WRITES), "the wait")
            writer.commit()
        finally:
            _, messages = running.communicate()
    assert running.returncode == 0, messages
    return path


def test_backup_has_the_write_for_which_it_waited(distribution: Distribution, backup: Path) -> None:
    tables = json.loads(backup.with_name(f"{backup.name}.json").read_text())["tables"]

    claims = f"SELECT count(*), count(*) FILTER (WHERE value = 'written meanwhile') FROM {CLAIMS}"  # noqa: S608
    assert distribution.coordinator.execute(claims) == [(tables[f"public.{CLAIMS}"], 1)]


def test_backup_of_a_cluster_becomes_another_cluster(distribution: Distribution, backup: Path, tmp_path: Path) -> None:
    nodes, coordinator = distribution.nodes, distribution.coordinator
    for node in nodes:
        node.execute(f"CREATE DATABASE {RESTORED}", database="postgres")
    join_nodes(nodes, RESTORED)

    manage(coordinator, "restore", str(backup), database=RESTORED, CONTENTAPI_MEDIA=str(tmp_path / "media"))
    manage(coordinator, *DISTRIBUTE, database=RESTORED)

    assert manage(coordinator, *DISTRIBUTE, database=RESTORED) == "Everything is distributed.\n"
    for query in CONTENT:
        assert coordinator.execute(query, database=RESTORED) == coordinator.execute(query) != []
    ((shards,),) = coordinator.execute("SELECT count(*) FROM pg_dist_shard", database=RESTORED)
    assert coordinator.execute("SELECT count(*) FROM pg_dist_shard") == [(shards,)]


def test_server_without_citus_refuses_the_backup(backup: Path, tmp_path: Path) -> None:
    server = PostgresServer(tmp_path / "server")
    try:
        done = run(server.create(), "manage.py", "restore", str(backup), CONTENTAPI_DISTRIBUTED="")
    finally:
        server.remove()

    assert done.returncode == 1
    assert 'extension "citus" is not available' in done.stderr
    assert "The restore is rolled back." in done.stderr
