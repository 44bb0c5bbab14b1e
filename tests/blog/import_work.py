"""Uploads of zip files and the work of clocks on them, for the tests of imports."""

from threading import Event

from blog.files import job_worker, jobs
from blog.files.job_worker import ImportWorker
from blog.models import ImportJob
from contentapi.core.identity import Actor
from tests.blog.archives import SITE, build_archive
from tests.blog.markdown_files import build_file


def upload(actor: Actor, files: dict[str, str | bytes] | None = None, *, source: str = "") -> ImportJob:
    archive = build_archive(SITE if files is None else files)
    return jobs.create_import_job(actor=actor, archive=archive, name="site.zip", source=source)


def make_files(number: int) -> dict[str, str | bytes]:
    return {f"{each:04}.md": build_file(title=f"Post {each}") for each in range(number)}


def finish_work(worker: ImportWorker) -> None:
    while worker.work(Event()):
        pass


def import_completely(actor: Actor, worker: ImportWorker, files: dict[str, str | bytes] | None = None) -> ImportJob:
    job = upload(actor, files)
    finish_work(worker)
    jobs.start_import(actor=actor, job_id=str(job.pk))
    finish_work(worker)
    job.refresh_from_db()
    return job


def list_results(job: ImportJob, *, is_plan: bool) -> list[tuple[str, str]]:
    results = job.results.filter(is_plan=is_plan).order_by("number")
    return [(result.path, result.reason or result.outcome) for result in results]


def process_files(worker: ImportWorker, number: int) -> None:
    """Let a worker begin a run and process some files."""
    worker.run = worker.run or job_worker.find_work()
    assert worker.run is not None
    for _ in range(number):
        assert worker.run.process_next_file()
