"""Files in a folder: complete or absent, and never outside of it."""

import io
import os
from pathlib import Path

import pytest

from contentapi.media.folder import FolderStorage

NAME = f"media/7-{'0' * 32}/640.webp"


def list_paths(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_stored_file_is_read_measured_replaced_and_deleted(media: FolderStorage) -> None:
    media.put(NAME, io.BytesIO(b"first"))
    media.put(NAME, io.BytesIO(b"second one"))

    with media.open(NAME) as file:
        assert file.read() == b"second one"
    assert media.head(NAME) == 10
    assert [(file.name, file.size) for file in media.list_files("media/")] == [(NAME, 10)]
    media.delete(NAME)
    media.delete(NAME)
    assert media.head(NAME) is None
    assert list(media.list_files()) == []
    assert list_paths(media.folder) == ["media"]
    with pytest.raises(FileNotFoundError):
        media.open(NAME)


def test_file_that_cannot_be_read_completely_leaves_nothing(media: FolderStorage) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:  # noqa: ARG002
            raise OSError("the connection is lost")

    with pytest.raises(OSError, match="the connection is lost"):
        media.put("uploads/7", Broken())

    assert list_paths(media.folder) == ["uploads"]


def test_file_that_was_never_completed_is_listed(media: FolderStorage) -> None:
    (media.folder / "uploads").mkdir(parents=True)
    (media.folder / "uploads/.abc.partial").write_bytes(b"half")

    assert [file.name for file in media.list_files()] == ["uploads/.abc.partial"]


def test_proxy_of_another_user_can_read_public_files_only(media: FolderStorage) -> None:
    media.folder.mkdir()
    before = os.umask(0o077)
    try:
        for name in (NAME, "uploads/7"):
            media.put(name, io.BytesIO(b"x"))
    finally:
        os.umask(before)

    def read_mode(name: str) -> int:
        return (media.folder / name).stat().st_mode & 0o777

    assert [read_mode(NAME), read_mode(NAME.rpartition("/")[0]), read_mode("media")] == [0o644, 0o755, 0o755]
    assert [read_mode("uploads/7"), read_mode("uploads")] == [0o600, 0o700]


def test_name_that_could_lead_elsewhere_is_an_error(media: FolderStorage) -> None:
    names = ("", "/etc/passwd", "media/../../x", "media/.hidden", "uploads/a/b/c", "media", "media/x\0", "uploads/ü")
    for name in names:
        with pytest.raises(ValueError, match="is no name of a file"):
            media.open(name)
