"""Whether files of images can be stored: a warning of readiness, and a problem for the doctor."""

from pathlib import Path

import pytest
from pytest_django import Settings

from contentapi.health.checks import NOT_STORED, check_media, check_storage
from contentapi.health.results import OK
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


@pytest.mark.usefixtures("blocked")
def test_storage_that_cannot_be_written_is_a_warning_and_a_problem_for_the_doctor() -> None:
    result = check_media()

    assert result == NOT_STORED
    assert not result.is_problem
    found = check_storage()
    assert found.is_problem
    assert "CONTENTAPI_MEDIA" in found.remedy
