"""`manage.py worker` as real processes: no job delays a publication, and several workers share the work."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from contentapi.conf.timeouts import PUBLICATION_INTERVAL
from tests.blog.archives import build_archive
from tests.blog.import_work import make_files
from tests.database_template import Template
from tests.e2e.live_server import wait_until
from tests.hosts import ROOT, Host
from tests.ports import find_free_port
from tests.postgresql_cluster import PostgresServer

pytestmark = pytest.mark.servers

PUBLICATION_LIMIT = 10  # seconds between the time of a post and its publication
DELAY_LIMIT = PUBLICATION_INTERVAL + 5  # of them, while other jobs work, hang or fail
PATIENCE = 180
FILES = 10_000
UPLOAD = """
from blog.files import jobs
from users.authentication import build_session_actor
from users.models import User
actor = build_session_actor(User.objects.get(email="editor@example.com"))
with open({path!r}, "rb") as archive:
    print(jobs.create_import_job(actor=actor, archive=archive, name="site.zip").pk)
"""


class Deployment:
    """A PostgreSQL with the demo, on which a test starts workers."""

    def __init__(self, folder: Path, server: PostgresServer) -> None:
        self.folder = folder
        self.server = server
        self.log = folder / "worker.log"
        self.host = Host(self.log, {"DATABASE_URL": server.build_url(), "PYTHONUNBUFFERED": "1"})
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self, **variables: str) -> psutil.Process:
        with self.log.open("ab") as log:
            command = [sys.executable, "manage.py", "worker"]
            environment = {**self.host.environment, **variables}
            self.workers.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log))
        return psutil.Process(self.workers[-1].pid)

    def stop_workers(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                for child in psutil.Process(worker.pid).children():
                    with suppress(psutil.NoSuchProcess):  # it has just ended
                        child.send_signal(signal.SIGCONT)
                worker.terminate()
        for worker in self.workers:
            assert worker.wait(PATIENCE) in (0, -signal.SIGKILL)

    def read(self, sql: str) -> int:
        ((value,),) = self.server.execute(sql)
        return int(value)

    def schedule(self) -> None:
        """Make all published posts due now."""
        self.server.execute("UPDATE blog_post SET status = 'scheduled', publish_at = now() WHERE status = 'published'")

    def count_due(self) -> int:
        return self.read("SELECT count(*) FROM blog_post WHERE status = 'scheduled' AND publish_at <= now()")

    def is_published(self) -> bool:
        return self.count_due() == 0

    def require_publication(self, limit: float = PUBLICATION_LIMIT) -> None:
        """Make posts due and wait until they are published, within the promised time."""
        self.schedule()
        wait_until(self.is_published, "the publication", limit)

    def upload(self, files: int) -> None:
        path = self.folder / "site.zip"
        path.write_bytes(build_archive(make_files(files)).getvalue())
        self.host.manage("shell", "-c", UPLOAD.format(path=str(path)))

    def count_done(self) -> int:
        return self.read("SELECT coalesce(max(done), 0) FROM blog_importjob WHERE state = 'checking'")


@contextmanager
def run_deployment(folder: Path, template: Template) -> Iterator[Deployment]:
    folder.chmod(0o755)
    server = template.copy_data(folder / "primary")
    deployment = Deployment(folder, server)
    try:
        server.start()
        yield deployment
    finally:
        deployment.stop_workers()
        server.remove()


@pytest.fixture
def deployment(tmp_path: Path, template: Template) -> Iterator[Deployment]:
    with run_deployment(tmp_path, template) as deployment:
        yield deployment


def find_parser(worker: psutil.Process) -> psutil.Process | None:
    for child in worker.children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "blog.files.parsing_process" in child.cmdline():
                return child
    return None


def require(find: Callable[[], psutil.Process | None], what: str) -> psutil.Process:
    wait_until(find, what, PATIENCE)
    found = find()
    assert found is not None
    return found


def test_import_of_many_files_and_its_stopped_child_delay_no_publication(deployment: Deployment) -> None:
    deployment.upload(FILES)
    worker = deployment.start_worker()
    wait_until(lambda: deployment.count_done() > 10, "the work on the import", PATIENCE)

    deployment.require_publication(DELAY_LIMIT)
    assert 10 < deployment.count_done() < FILES

    parser = require(lambda: find_parser(worker), "the child process")
    parser.suspend()
    done = deployment.count_done()
    deployment.require_publication(DELAY_LIMIT)
    assert parser.status() == psutil.STATUS_STOPPED
    assert deployment.count_done() <= done + 1  # a file that was parsed already

    parser.resume()
    wait_until(lambda: deployment.count_done() > done + 1, "the end of the pause", PATIENCE)


def test_job_that_fails_in_each_round_delays_no_publication_and_is_named(deployment: Deployment) -> None:
    deployment.server.execute("ALTER TABLE contentapi_idempotencyrecord RENAME TO renamed")
    address = f"127.0.0.1:{find_free_port()}"
    deployment.start_worker(CONTENTAPI_METRICS_BIND=address)

    def count_failures() -> float:
        with urlopen(f"http://{address}/metrics") as response:
            lines = response.read().decode().splitlines()
        found = [line for line in lines if line.startswith('contentapi_job_failures_total{name="purge_idem')]
        return float(found[0].split()[1]) if found else 0  # written every second

    wait_until(lambda: deployment.read("SELECT count(*) FROM contentapi_jobheartbeat") > 0, "a heartbeat", PATIENCE)
    wait_until(lambda: count_failures() >= 2, "the second failure", PATIENCE)
    deployment.require_publication(DELAY_LIMIT)
    assert deployment.log.read_text().count("The job purge_idempotency_keys cannot use the database") == 1

    deployment.server.execute("ALTER TABLE renamed RENAME TO contentapi_idempotencyrecord")
    succeeded = (
        "SELECT count(*) FROM contentapi_jobheartbeat"
        " WHERE job = 'purge_idempotency_keys' AND beat_at - worked_at < interval '1 second'"
    )
    wait_until(lambda: deployment.read(succeeded) == 1, "the success of the job", PATIENCE)


def test_several_workers_publish_each_post_once_and_replace_a_killed_one(deployment: Deployment) -> None:
    deployment.schedule()
    due, versions = deployment.count_due(), deployment.read("SELECT sum(version) FROM blog_post")
    killed = deployment.start_worker()
    deployment.start_worker()
    wait_until(deployment.is_published, "the publication", PATIENCE)
    assert due > 1
    assert deployment.read("SELECT sum(version) FROM blog_post") == versions + due
    assert deployment.log.read_text().count("Published post") == due

    killed.kill()
    deployment.require_publication()


def test_import_is_continued_by_the_next_worker_after_sigterm(deployment: Deployment) -> None:
    deployment.upload(300)
    deployment.start_worker()
    wait_until(lambda: deployment.count_done() > 5, "the work on the import", PATIENCE)
    deployment.stop_workers()
    done = deployment.count_done()
    assert 5 < done < 300

    deployment.start_worker()
    checked = "SELECT count(*) FROM blog_importjob WHERE state = 'checked' AND done = 300 AND run = 2"
    wait_until(lambda: deployment.read(checked) == 1, "the end of the check", PATIENCE)
    assert deployment.read("SELECT count(*) FROM blog_importresult") == 300


def test_worker_continues_after_the_loss_of_the_database(deployment: Deployment) -> None:
    deployment.upload(2000)
    deployment.start_worker()
    wait_until(lambda: deployment.count_done() > 5, "the work on the import", PATIENCE)

    deployment.server.kill()
    wait_until(lambda: "cannot use the database" in deployment.log.read_text(), "the log line", PATIENCE)
    deployment.server.start()

    done = deployment.count_done()
    deployment.require_publication()
    wait_until(lambda: deployment.count_done() > done, "the rest of the import", PATIENCE)
    assert deployment.log.read_text().count("cannot use the database") == 1
