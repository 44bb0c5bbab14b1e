"""`manage.py worker` as real processes: no job delays a publication, and several workers share the work."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from tests.deployment.ports import find_free_port
from tests.deployment.processes import PATIENCE, wait_until
from tests.deployment.template import Template
from tests.e2e.worker_deployment import Deployment, run_deployment

pytestmark = pytest.mark.servers

FILES = 4000


@pytest.fixture
def deployment(tmp_path: Path, template: Template) -> Iterator[Deployment]:
    with run_deployment(tmp_path, template) as deployment:
        yield deployment


def find_parser(worker: psutil.Process) -> psutil.Process | None:
    for child in worker.children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "blog.files.syntax" in child.cmdline():
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

    deployment.require_publication()
    assert 10 < deployment.count_done() < FILES

    parser = require(lambda: find_parser(worker), "the child process")
    parser.suspend()
    done = deployment.count_done()
    deployment.require_publication()
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
    deployment.require_publication()
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
    wait_until(lambda: deployment.log.read_text().count("Published post") == due, "the lines of all posts", PATIENCE)

    killed.kill()
    deployment.require_publication()


def test_import_is_continued_by_the_next_worker_after_sigterm(deployment: Deployment) -> None:
    deployment.upload(240)
    deployment.start_worker()
    wait_until(lambda: deployment.count_done() > 5, "the work on the import", PATIENCE)
    deployment.stop_workers()
    done = deployment.count_done()
    assert 5 < done < 240

    deployment.start_worker()
    checked = "SELECT count(*) FROM blog_importjob WHERE state = 'checked' AND done = 240 AND run = 2"
    wait_until(lambda: deployment.read(checked) == 1, "the end of the check", PATIENCE)
    assert deployment.read("SELECT count(*) FROM blog_importresult") == 240


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
