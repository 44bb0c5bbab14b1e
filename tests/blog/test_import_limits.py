"""Imports of uploaded zip files: their limits, refused archives, and who may upload, start and see them."""

from functools import partial

import pytest

from blog.files import job_worker, jobs
from blog.files.reading import LimitedParser
from blog.models import ImportJob, ImportPiece
from contentapi.auth.sessions import build_session_actor
from contentapi.core.errors import Conflict, Forbidden, Invalid
from contentapi.core.identity import Actor, Role
from tests.blog.archives import SITE, build_archive
from tests.blog.import_work import finish_work, list_results, upload
from tests.blog.markdown_files import build_file
from tests.blog.test_limited_parsing import SLOW
from tests.factories import make_actor, make_user
from users.models import User

LIMIT = "cannot be parsed with 512 MiB of memory and 0.2 s of CPU time. Make the front matter simpler."


def test_person_has_at_most_three_uploads_that_are_not_started(editor: Actor) -> None:
    first, *_ = [upload(editor, source=name) for name in "abc"]
    finish_work()

    with pytest.raises(Invalid, match="At most 3 uploads may wait for their start"):
        upload(editor)
    assert ImportJob.objects.count() == 3
    assert not ImportPiece.objects.exclude(job__in=ImportJob.objects.all()).exists()
    upload(build_session_actor(make_user(Role.EDITOR)))  # another person may
    jobs.start_import(actor=editor, job_id=str(first.pk))
    upload(editor)


def test_uploads_of_a_person_have_at_most_200_mb_until_they_end(editor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    job = upload(editor)
    size = sum(map(len, job.pieces.values_list("content", flat=True)))
    monkeypatch.setattr(jobs, "MAX_STORED", 2 * size - 1)

    with pytest.raises(Invalid, match=rf"may have {2 * size - 1:,} bytes together \(got {2 * size:,}\)"):
        upload(editor)
    finish_work()
    jobs.cancel_import(actor=editor, job_id=str(job.pk))
    upload(editor)


def test_file_that_breaks_a_limit_is_a_bad_file_and_the_rest_is_imported(
    editor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = upload(editor, {"a.md": build_file(title="A"), "slow.md": SLOW, "z.md": build_file(title="Z")})
    monkeypatch.setattr(job_worker, "LimitedParser", partial(LimitedParser, seconds=0.2))

    finish_work()

    assert list_results(job, is_plan=True) == [
        ("a.md", "created"),
        ("z.md", "created"),
        ("slow.md", LIMIT),
    ]


def test_status_scheduled_is_refused_at_the_upload(editor: Actor) -> None:
    with pytest.raises(Invalid, match="published, archived"):
        jobs.create_import_job(actor=editor, archive=build_archive(SITE), name="x.zip", status="scheduled")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"role": Role.AUTHOR}, "You may not import posts."),
        ({"is_active": False}, "The account of the person who uploaded the zip file is locked or deleted."),
    ],
)
def test_import_of_a_person_who_may_not_import_any_more_fails(
    editor: Actor, change: dict[str, object], problem: str
) -> None:
    job = upload(editor)
    User.objects.filter(pk=editor.user_id or 0).update(**change)

    finish_work()

    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", problem)
    assert not ImportPiece.objects.exists()


def test_only_a_checked_import_can_be_started(editor: Actor) -> None:
    job = upload(editor)
    with pytest.raises(Conflict, match="This import is checking"):
        jobs.start_import(actor=editor, job_id=str(job.pk))
    finish_work()
    jobs.start_import(actor=editor, job_id=str(job.pk))

    with pytest.raises(Conflict, match="This import is importing"):
        jobs.start_import(actor=editor, job_id=str(job.pk))


def test_purge_needs_the_permission() -> None:
    with pytest.raises(Forbidden):
        jobs.purge_imports(actor=make_actor(Role.AUTHOR))
