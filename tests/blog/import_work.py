"""Uploads of zip files and the work of workers on them, for the tests of imports."""

from threading import Event

from blog.files import job_worker, jobs
from blog.models import ImportJob, ImportResult, ImportState, PostSource
from contentapi.core.identity import Actor
from tests.blog.archives import build_archive
from tests.blog.markdown_files import build_file
from tests.factories import get_user, make_post


def upload(actor: Actor, files: dict[str, str | bytes] | None = None, *, source: str = "") -> ImportJob:
    archive = build_archive(make_files(1) if files is None else files)
    return jobs.create_import_job(actor=actor, archive=archive, name="site.zip", source=source)


def make_files(number: int) -> dict[str, str | bytes]:
    return {f"{each:04}.md": build_file(title=f"Post {each}") for each in range(number)}


def finish_work() -> None:
    job_worker.work_on_imports(Event())


def import_completely(actor: Actor, files: dict[str, str | bytes] | None = None, *, source: str = "") -> ImportJob:
    job = upload(actor, files, source=source)
    finish_work()
    jobs.start_import(actor=actor, job_id=str(job.pk))
    finish_work()
    job.refresh_from_db()
    return job


def make_finished_import(owner: Actor, number: int) -> ImportJob:
    """Return an import that has created posts, as the worker leaves it, without its work."""
    job = ImportJob.objects.create(
        owner=get_user(owner), file_name="site.zip", source="site", state=ImportState.DONE, total=number, ignored=0
    )
    for each in range(number):
        path = f"{each:04}.md"
        post = make_post(title=f"Post {each}", slug=f"{each:04}")
        PostSource.objects.create(post=post, source="site", path=path, digest=b"", authors=[], status=post.status)
        ImportResult.objects.create(
            job=job, is_plan=False, number=each + 1, path=path, outcome="created", post_id=post.pk
        )
    return job


def list_results(job: ImportJob, *, is_plan: bool) -> list[tuple[str, str]]:
    results = job.results.filter(is_plan=is_plan).order_by("number")
    return [(result.path, result.reason or result.outcome) for result in results]


class StopAfter(Event):
    """Stops the work after some files."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.last = count_processed() + number

    def is_set(self) -> bool:
        return count_processed() >= self.last


def count_processed() -> int:
    return ImportResult.objects.count() + ImportResult.objects.filter(outcome=jobs.UNDONE).count()


def process_files(number: int) -> None:
    """Begin or continue the oldest import, and stop the work after some files."""
    job_worker.work_on_imports(StopAfter(number))
