"""The jobs of the project: their names, their documents, and the connections that they need."""

import re
from pathlib import Path
from threading import Event

import pytest

from contentapi import background
from contentapi.events import declarations
from contentapi.events.declarations import App, load_jobs
from contentapi.health import CONNECTIONS_OF_WORKER
from contentapi.worker.jobs import Job


def test_every_job_has_a_name_of_its_own_that_fits_into_sql_and_metrics() -> None:
    jobs = load_jobs()

    assert {"publication", "search", "imports", "purge_history", "purge_tokens"} < {job.name for job in jobs}
    assert all(re.fullmatch("[a-z_]+", job.name) for job in jobs)


def test_doctor_counts_a_connection_for_each_job_and_one_for_the_heartbeat() -> None:
    assert len(load_jobs()) + 1 == CONNECTIONS_OF_WORKER


def test_document_lists_the_jobs_and_their_intervals() -> None:
    text = (Path(__file__).parents[3] / "docs/operations/run.md").read_text()
    table = text.partition("<!-- jobs -->")[2].partition("<!-- /jobs -->")[0]

    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", table, re.MULTILINE)

    assert sorted(rows) == sorted((job.name, str(job.pause)) for job in load_jobs())


def test_two_jobs_of_one_name_prevent_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("twice", Event.is_set, interval=1)
    monkeypatch.setattr(background, "list_jobs", lambda: [job, job])
    monkeypatch.setattr(declarations, "load_apps", lambda: [App(jobs=background.__name__)])

    with pytest.raises(ValueError, match=r"Two jobs have the same name: .*twice, twice\b"):
        load_jobs()
