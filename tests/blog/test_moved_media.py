"""Copying files from one storage to another."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from blog.models import Post
from contentapi.media.access import get_media_url
from contentapi.media.folder import FolderStorage
from tests.factories import make_post

NAMES = [f"media/7-{'0' * 32}/320.webp", f"media/7-{'0' * 32}/640.webp", "uploads/9"]


@pytest.fixture
def source(tmp_path: Path) -> FolderStorage:
    storage = FolderStorage(tmp_path / "old")
    for name in NAMES:
        storage.put(name, io.BytesIO(name.encode()))
    (storage.folder / "uploads/.abc.partial").write_bytes(b"half")
    (storage.folder / "README").write_bytes(b"not ours")
    return storage


def list_files(storage: FolderStorage) -> list[str]:
    return sorted(file.name for file in storage.list_files())


def test_files_are_copied_and_an_interrupted_run_is_continued(
    source: FolderStorage, media: FolderStorage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put = FolderStorage.put

    def fail_at_uploads(storage: FolderStorage, name: str, file: Any) -> None:
        if name.startswith("uploads/"):
            raise OSError("The disk is full.")
        put(storage, name, file)

    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "put", fail_at_uploads)
        with pytest.raises(CommandError, match=r"The disk is full\. 2 files were copied"):
            call_command("move_media", str(source.folder))
    call_command("move_media", str(source.folder))

    assert list_files(media) == NAMES
    with media.open(NAMES[0]) as file:
        assert file.read() == NAMES[0].encode()
    assert capsys.readouterr().out == "1\n"
    assert len(list_files(source)) == 5


def test_file_of_another_size_is_copied_again(source: FolderStorage, media: FolderStorage) -> None:
    media.put(NAMES[2], io.BytesIO(b"x"))

    call_command("move_media", str(source.folder))

    assert media.head(NAMES[2]) == len(NAMES[2])


@pytest.mark.parametrize("html", ['<img srcset="{}/media/7-0/320.webp 320w">', '<a href="{}/media/7-0/320.webp">'])
def test_posts_with_earlier_addresses_are_rendered_again(
    source: FolderStorage, media: FolderStorage, html: str
) -> None:
    moved, present = make_post(), make_post()
    Post.objects.filter(pk=moved.pk).update(renderer=9, image_ids=[7], body_html=html.format("https://old.example"))
    Post.objects.filter(pk=present.pk).update(renderer=9, image_ids=[7], body_html=html.format(get_media_url()))

    call_command("move_media", str(source.folder))

    assert list(Post.objects.filter(renderer=0)) == [moved]
    assert media
