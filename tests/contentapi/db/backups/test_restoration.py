"""The command `restore`: into an empty database only, completely or not at all, and verified by the rows."""

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management.base import CommandError

from contentapi.db.backups.dump import write_backup
from contentapi.db.backups.restoration import restore_backup
from tests.contentapi.db.backups.operators import IMAGE, Operator, ignore, is_waiting, require_success
from tests.deployment.processes import PATIENCE, wait_until

pytestmark = pytest.mark.servers
Use = Callable[..., None]
# Some events of authors are planned, and others are only in the outbox.
SEND = """
import contentapi.schema
from uuid import uuid4
from blog.models import Author
from contentapi.core.identity import OPERATOR
from contentapi.events.webhooks.deliveries import claim, record
from contentapi.events.webhooks.services import create_webhook
from tests.event_log import relay
from users.models import User
relay()
maker, lease = User.objects.get(email="admin@example.com").pk, uuid4()
made = create_webhook(actor=OPERATOR, name="Site", url="https://example.com/", types=["author.*"], maker_id=maker)
for bio in "12":
    Author.objects.update(bio=bio)
    relay()
claim(lease, made.webhook.pk)
record(lease, made.webhook.pk, [])
Author.objects.update(bio="3")
print(made.secret)
"""
GO_ON = """
import contentapi.schema, json
from uuid import uuid4
from blog.models import Author
from contentapi.events.webhooks.deliveries import claim, find_webhooks
from contentapi.events.webhooks.signing import list_keys
from tests.event_log import relay
relay()
Author.objects.update(bio="4")
relay()
(pk,) = find_webhooks()
webhook, _, deliveries = claim(uuid4(), pk)
print(json.dumps([list_keys(webhook), len(deliveries) - Author.objects.count()]))
"""


def copy_archive(archive: Path, folder: Path) -> Path:
    """Copy an archive and its manifest."""
    for path in archive.parent.iterdir():
        shutil.copy(path, folder)
    return folder / archive.name


def change_manifest(archive: Path, folder: Path, change: Callable[[Any], object]) -> Path:
    path = copy_archive(archive, folder)
    manifest = json.loads(path.with_name("demo.dump.json").read_text())
    change(manifest)
    path.with_name("demo.dump.json").write_text(json.dumps(manifest))
    return path


def is_empty(operator: Operator, database: str) -> bool:
    return operator.read_rows(database) == {}


def refuse(path: Path, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        restore_backup(path, report=ignore)


def test_restored_database_equals_the_source_and_its_triggers_and_sequences_work(
    operator: Operator, archive: Path
) -> None:
    """The history has the versions of the source, no others; a change writes one more; a new row gets a new id."""
    database = operator.create_database()

    done = operator.manage(database, "restore", str(archive))

    assert len(require_success(done).splitlines()) == len(operator.read_rows("source"))
    assert "tables have as many rows as in the backup." in done.stderr
    assert operator.read_rows(database) == operator.read_rows("source")
    assert "migrations are not applied" not in done.stderr
    assert "newer release" not in done.stderr
    assert (operator.locate_media(database) / IMAGE).read_bytes() == b"boat"

    triggers = "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2"
    assert operator.execute(triggers, database) == operator.execute(triggers, "source") != []
    require_success(operator.manage(database, "create_user", "new@example.invalid", "--name", "New"))
    ((largest, newest),) = operator.execute(
        "SELECT max(id) FILTER (WHERE email <> 'new@example.invalid'), max(id) FROM users_user", database
    )
    assert newest > largest


def test_backup_under_load_is_exact_and_has_each_earlier_write(operator: Operator, tmp_path: Path) -> None:
    source, path = operator.create_database(options="TEMPLATE source"), tmp_path / "load.dump"
    write, written = "INSERT INTO django_session VALUES (gen_random_uuid(), '', now())", 1
    with operator.connect(source) as writer:
        writer.execute(write)
        process = operator.start(source, "backup", str(path))
        while process.poll() is None:
            writer.execute(write)
            written += 1
    under_load, _ = process.communicate()
    database = operator.create_database()

    restored = require_success(operator.manage(database, "restore", str(path)))

    assert restored == under_load
    ((sessions,),) = operator.execute("SELECT count(*) FROM django_session", database)
    assert 1 <= sessions <= written


def test_ordinary_role_restores_the_backup_of_an_earlier_release(
    operator: Operator, use: Use, archive: Path, tmp_path: Path
) -> None:
    earlier = {"format": 2, "migrations": ["users.0001_initial"], "sequences": {"public.users_user_id_seq": 9}}
    path = change_manifest(archive, tmp_path, lambda manifest: manifest.update(earlier))
    operator.execute("CREATE ROLE ordinary LOGIN")
    database = operator.create_database(options="OWNER ordinary")
    use(database, user="ordinary")

    restore_backup(path, report=ignore)

    owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    assert operator.execute(owners, database) == [("ordinary",)]
    assert operator.read_rows(database) == operator.read_rows("source")


@pytest.mark.parametrize("statement", ["CREATE TYPE mine AS ENUM ('a')", "CREATE SCHEMA o CREATE TABLE mine ()"])
def test_database_that_is_not_empty_is_not_changed(operator: Operator, use: Use, archive: Path, statement: str) -> None:
    use(database := operator.create_database())
    operator.execute(statement, database)
    before = operator.read_rows(database)

    refuse(archive, f"The database {database} is not empty .*mine")

    assert operator.read_rows(database) == before


def test_database_of_another_encoding_is_an_error(operator: Operator, use: Use, archive: Path) -> None:
    use(operator.create_database(options="ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0"))

    refuse(archive, "has the encoding SQL_ASCII")


@pytest.mark.parametrize(
    ("damage", "has_manifest", "message"),
    [
        (lambda content: content[: len(content) * 9 // 10], True, "is damaged: its SHA-256 is not"),
        # The data of a table, which pg_restore reads after it has created all tables
        (lambda content: content[:-2000] + bytes(1500) + content[-500:], False, r"The restore is rolled back\."),
        (lambda _: b"hello\n", False, "cannot be read as a backup"),
    ],
)
def test_damaged_archive_restores_nothing(
    operator: Operator,
    use: Use,
    archive: Path,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    message: str,
    *,
    has_manifest: bool,
) -> None:
    path = copy_archive(archive, tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    if not has_manifest:
        path.with_name("demo.dump.json").unlink()
    use(database := operator.create_database())

    refuse(path, message)

    assert is_empty(operator, database)


def test_manifest_that_does_not_fit_is_an_error(operator: Operator, use: Use, archive: Path, tmp_path: Path) -> None:
    def add_a_user(manifest: Any) -> None:
        manifest["tables"]["public.users_user"] += 1

    use(operator.create_database())
    refuse(change_manifest(archive, tmp_path, lambda manifest: manifest.pop("archive")), "is not the manifest of a")
    refuse(change_manifest(archive, tmp_path, add_a_user), r"differs from the backup in: public\.users_user\.")


def test_backup_of_another_application_is_an_error(operator: Operator, use: Use, tmp_path: Path) -> None:
    use(other := operator.create_database())
    operator.execute("CREATE TABLE django_migrations (app text, name text)", other)
    operator.execute("INSERT INTO django_migrations VALUES ('shop', '0001_initial')", other)
    path = tmp_path / "demo.dump"
    write_backup(path, replace=False, report=ignore)

    use(operator.create_database())
    refuse(path, r"is no backup of this application: it has no table contentapi_idempotencyrecord\.")


def test_backup_of_an_older_release_names_the_next_step(operator: Operator, use: Use, tmp_path: Path) -> None:
    use(older := operator.create_database(options="TEMPLATE source"))
    operator.execute("DELETE FROM django_migrations WHERE app = 'sessions'", older)
    operator.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('users', '0999_new', now())", older)
    path = tmp_path / "demo.dump"
    write_backup(path, replace=False, report=ignore)

    done = operator.manage(operator.create_database(), "restore", str(path))

    require_success(done)
    assert "1 migrations are not applied. Run `migrate`." in done.stderr
    assert "The backup is of a newer release, with users.0999_new." in done.stderr


def test_restored_webhooks_begin_with_the_new_log(operator: Operator, use: Use, tmp_path: Path) -> None:
    """They have their secrets, and send nothing of the log before."""
    source, path = operator.create_database(options="TEMPLATE source"), tmp_path / "demo.dump"
    secret = require_success(operator.manage(source, "shell", "--verbosity", "0", "-c", SEND)).split()[-1]
    use(source)
    write_backup(path, replace=False, report=ignore)
    use(database := operator.create_database())
    restore_backup(path, report=ignore)

    found = require_success(operator.manage(database, "shell", "--verbosity", "0", "-c", GO_ON))

    assert json.loads(found.splitlines()[-1]) == [[secret], 0]


def test_interrupted_restore_leaves_the_database_empty(operator: Operator, archive: Path) -> None:
    """Interrupt pg_restore while it waits: another transaction has reserved the name of a table."""
    database = operator.create_database()
    with psycopg.connect(operator.build_url(database)) as other:
        other.execute("CREATE TABLE public.users_user (id int)")
        process = operator.start(database, "restore", str(archive), start_new_session=True)
        wait_until(lambda: process.poll() is not None or is_waiting(operator, database), "the wait of pg_restore")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        process.communicate()
        other.rollback()

    wait_until(lambda: is_empty(operator, database), "the end of the restore")
