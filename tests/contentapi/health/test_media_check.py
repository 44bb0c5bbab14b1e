"""Whether files of images can be stored: a warning of readiness, and a problem for the doctor."""

from pathlib import Path

import pytest
from pytest_django import Settings

from contentapi.conf.timeouts import READINESS_MAX_AGE
from contentapi.health import host_checks, readiness
from contentapi.health.checks import NOT_STORED, check_media
from contentapi.health.deployment import describe_result
from contentapi.health.readiness import BackgroundCheck, Readiness
from contentapi.health.results import OK, Results
from contentapi.management.commands.doctor import describe_message
from contentapi.media.folder import FolderStorage
from tests.environment import set_environment


@pytest.fixture
def blocked(settings: Settings, tmp_path: Path) -> None:
    """The folder of the files is a file."""
    (tmp_path / "media").write_text("")
    set_environment(settings, CONTENTAPI_MEDIA=str(tmp_path / "media"))


def test_probe_leaves_no_file(media: FolderStorage) -> None:
    assert check_media() == OK
    assert list(media.list_files()) == []
    (message,) = host_checks.check_media()
    assert describe_message(message).status == "ok"


@pytest.mark.usefixtures("blocked")
def test_storage_that_cannot_be_written_is_a_warning_and_a_problem_for_the_doctor() -> None:
    result = check_media()

    assert result == NOT_STORED
    assert not result.is_problem
    assert describe_result("media", result, "", "").id == "deployment.media"
    (message,) = host_checks.check_media()
    finding = describe_message(message)
    assert (finding.check, finding.status) == ("media", "problem")
    assert "CONTENTAPI_MEDIA" in finding.remedy


def test_result_is_used_for_as_long_as_the_check_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "READINESS_LIMIT", 60)
    runs: list[int] = []

    def run() -> Results:
        runs.append(1)
        return {"media": OK}

    check = BackgroundCheck(("media",), run, max_age=10**6)

    parts = Readiness([check])
    assert parts.read() == parts.read() == {"media": OK}
    check.ended_at -= READINESS_MAX_AGE
    parts.read()

    assert runs == [1]
