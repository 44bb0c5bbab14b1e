"""The files of images in a backup, without a database."""

import io
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core.management.base import CommandError
from pytest_django import Settings

from contentapi.db.backups.dump import Archive, Manifest
from contentapi.media.backups import ArchivedFiles, write_files
from contentapi.media.folder import FolderStorage
from tests.environment import set_environment

NAMES = [f"media/7-{'0' * 32}/320.webp", "uploads/9"]


def write_manifest(path: Path, media: dict[str, Any]) -> None:
    path.write_bytes(msgspec.json.encode(Manifest("18", {}, Archive(0, ""), media=media)))


@pytest.fixture
def backup(media: FolderStorage, tmp_path: Path) -> Path:
    """A backup of two files, whose folder is empty now."""
    for name in NAMES:
        media.put(name, io.BytesIO(name.encode()))
    (media.folder / "uploads/.abc.partial").write_bytes(b"half")
    path = tmp_path / "demo.dump"
    described = write_files(tmp_path / "demo.dump.media.tar")
    write_manifest(tmp_path / "demo.dump.json", described)
    media.folder.rename(tmp_path / "moved away")
    return path


def ignore(_: str) -> None:
    """Report nothing."""


def test_complete_files_are_archived_and_restored(backup: Path, media: FolderStorage) -> None:
    reports: list[str] = []

    ArchivedFiles(backup, reports.append).restore()

    assert sorted(file.name for file in media.list_files()) == NAMES
    with media.open(NAMES[0]) as file:
        assert file.read() == NAMES[0].encode()
    assert (media.folder / NAMES[0]).stat().st_mode & 0o777 == 0o644
    assert reports == [f"Restored the files of images into {media.folder}."]


def test_folder_that_is_not_empty_is_refused(backup: Path, media: FolderStorage) -> None:
    media.put("uploads/1", io.BytesIO(b"x"))

    with pytest.raises(CommandError, match=r"is not empty\. Nothing is changed"):
        ArchivedFiles(backup, ignore)


def test_damaged_and_missing_archives_are_refused(backup: Path) -> None:
    archive = backup.with_name("demo.dump.media.tar")
    content = archive.read_bytes()
    archive.write_bytes(content[:-1] + b"x")
    with pytest.raises(CommandError, match="is damaged"):
        ArchivedFiles(backup, ignore)
    archive.unlink()
    with pytest.raises(CommandError, match=r"There is no .*demo\.dump\.media\.tar"):
        ArchivedFiles(backup, ignore)


def test_archive_without_a_manifest_writes_no_file_outside_the_folder(backup: Path, media: FolderStorage) -> None:
    backup.with_name("demo.dump.json").unlink()
    with tarfile.open(backup.with_name("demo.dump.media.tar"), "w") as archive:
        archive.addfile(tarfile.TarInfo("../outside"))

    with pytest.raises(CommandError, match="The database is restored, the files of images are not"):
        ArchivedFiles(backup, ignore).restore()

    assert not (media.folder.parent / "outside").exists()


def test_folder_without_files_has_no_archive(media: FolderStorage, tmp_path: Path) -> None:
    assert write_files(tmp_path / "draft") == {}
    assert not media.folder.exists()
    ArchivedFiles(tmp_path / "demo.dump", ignore).restore()
    assert not media.folder.exists()


def test_bucket_is_named_and_not_archived(backup: Path, settings: Settings, tmp_path: Path) -> None:
    set_environment(settings, CONTENTAPI_MEDIA="s3://images/site?endpoint=https://s3.example.com")
    described = write_files(tmp_path / "draft")
    write_manifest(tmp_path / "other.dump.json", described)
    reports: list[str] = []

    for path in (tmp_path / "other.dump", backup):
        ArchivedFiles(path, reports.append).restore()

    assert described == {"place": "s3://images/site"}
    assert reports[0] == "Note: the files of images were in s3://images/site, and are not in this backup."
    assert "move_media" in reports[1]


@pytest.mark.usefixtures("media")
def test_folder_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tarfile.open", fail)
    with pytest.raises(CommandError, match=r"cannot be copied\. Permission denied"):
        write_files(tmp_path / "draft")
