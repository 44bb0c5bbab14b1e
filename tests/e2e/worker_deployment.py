"""A PostgreSQL with the demo and real worker processes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.blog.archives import build_archive
from tests.blog.import_work import make_files
from tests.deployment.hosts import Host
from tests.deployment.postgresql import PostgresServer
from tests.deployment.processes import COMMANDS, PATIENCE, Process, start_process, wait_until
from tests.deployment.template import Template

# Seconds from the time of a post to its publication, also while other jobs work, hang or fail. An idle machine needs
# two, and a publication that waited for an import would need minutes.
PUBLICATION_LIMIT = 30
UPLOAD = """
from blog.files import jobs
from contentapi.auth.sessions import build_session_actor
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
        self.workers: list[Process] = []

    def start_worker(self, **variables: str) -> psutil.Process:
        self.workers.append(start_process(COMMANDS["worker"], self.log, {**self.host.environment, **variables}))
        return psutil.Process(self.workers[-1].pid)

    def stop_workers(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                for child in psutil.Process(worker.pid).children():
                    with suppress(psutil.NoSuchProcess):  # it has just ended
                        child.send_signal(signal.SIGCONT)
                worker.terminate()
        for worker in self.workers:
            assert worker.wait(PATIENCE) in (0, -signal.SIGKILL, -signal.SIGTERM)  # the last one: still starting

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

    def require_publication(self) -> None:
        """Make posts due and wait until they are published, in time."""
        self.schedule()
        wait_until(self.is_published, "the publication", PUBLICATION_LIMIT)

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
